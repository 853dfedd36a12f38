require 'json'

patterns, texts = JSON.parse($stdin.read)
puts JSON.generate(patterns.map { |pattern| texts.map { |text| Regexp.new(pattern).match?(text) } })
