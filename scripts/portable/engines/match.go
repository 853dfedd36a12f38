// Command match tells which texts each pattern matches, by RE2.
package main

import (
	"encoding/json"
	"log"
	"os"
	"regexp"
)

func main() {
	var input [2][]string
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	matches := make([][]bool, len(input[0]))
	for place, pattern := range input[0] {
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			log.Fatal(err)
		}
		for _, text := range input[1] {
			matches[place] = append(matches[place], compiled.MatchString(text))
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(matches); err != nil {
		log.Fatal(err)
	}
}
