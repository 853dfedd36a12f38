import type { OpenApiDocument } from './bundle.ts';
import { type Call, exampleCalls } from './example-calls.ts';

/** What the reference page shows beside an operation, in the form of Redoc's and Scalar's `x-codeSamples`. */
interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

/**
 * Whole programs that call each operation with an example of the contract. They take the address of the API from the
 * environment variable API, and the access token from ACCESS_TOKEN.
 * @returns a JSON file: the samples of each operation, by its operationId
 */
export function codeSamples(document: OpenApiDocument): string {
  const samples = exampleCalls(document).map((call) => [call.id, samplesOf(call)]);
  return `${JSON.stringify(Object.fromEntries(samples), null, 2)}\n`;
}

function samplesOf(call: Call): CodeSample[] {
  return [
    { lang: 'shell', label: 'curl', source: curl(call) },
    { lang: 'typescript', label: 'TypeScript', source: typescript(call) },
    { lang: 'python', label: 'Python', source: python(call) },
    { lang: 'go', label: 'Go', source: go(call) },
    { lang: 'java', label: 'Java', source: java(call) },
  ];
}

function curl({ id, method, path, needsToken, takesKey, body }: Call): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    `curl -X ${method} "$API${path}"`,
    needsToken && `-H "Authorization: Bearer $ACCESS_TOKEN"`,
    takesKey && `-H "Idempotency-Key: ${id}-$(date +%s)"`,
    body && `-H "Content-Type: ${body.mediaType}"`,
    body && `-d ${quoted(body.text)}`,
  ]
    .filter(Boolean)
    .join(' \\\n  ');
}

function typescript({ method, path, needsToken, takesKey, body, returnsJson }: Call): string {
  const headers = [
    needsToken && `Authorization: \`Bearer \${process.env.ACCESS_TOKEN}\``,
    takesKey && `'Idempotency-Key': crypto.randomUUID()`,
    body && `'Content-Type': '${body.mediaType}'`,
  ].filter((header) => typeof header === 'string');
  return `const response = await fetch(\`\${process.env.API}${path}\`, {
  method: '${method}',${headers.length > 0 ? `\n  headers: {${lines(headers, 4)}\n  },` : ''}${
    body
      ? `\n  body: ${body.json === undefined ? JSON.stringify(body.text) : `JSON.stringify(${indented(body.text, 2)})`},`
      : ''
  }
});
console.log(response.status${returnsJson ? ', await response.json()' : ''});`;
}

function python({ method, path, needsToken, takesKey, body, returnsJson }: Call): string {
  const headers = [
    needsToken && `"Authorization": f"Bearer {os.environ['ACCESS_TOKEN']}"`,
    takesKey && `"Idempotency-Key": str(uuid.uuid4())`,
    body && `"Content-Type": "${body.mediaType}"`,
  ].filter((header) => typeof header === 'string');
  return `import os
${takesKey ? 'import uuid\n' : ''}
import requests

response = requests.${method.toLowerCase()}(
    f"{os.environ['API']}${path}",${headers.length > 0 ? `\n    headers={${lines(headers, 8)}\n    },` : ''}${
      body
        ? body.json === undefined
          ? `\n    data=${JSON.stringify(body.text)},`
          : `\n    json=${indented(pythonLiteral(body.json), 4)},`
        : ''
    }
)
print(response.status_code${returnsJson ? ', response.json()' : ''})`;
}

function go({ method, path, needsToken, takesKey, body }: Call): string {
  const imports = ['fmt', 'io', 'net/http', 'os', takesKey && 'crypto/rand', body && 'strings'].filter(
    (name) => typeof name === 'string',
  );
  const set = (name: string, value: string) => `\trequest.Header.Set("${name}", ${value})\n`;
  return `package main

import (
${imports
  .sort()
  .map((name) => `\t"${name}"`)
  .join('\n')}
)

func main() {
${body ? `\tbody := strings.NewReader(${goText(indented(body.text, 1, '\t'))})\n` : ''}\trequest, err := http.NewRequest("${method}", os.Getenv("API")+"${path}", ${body ? 'body' : 'nil'})
	if err != nil {
		panic(err)
	}
${needsToken ? set('Authorization', '"Bearer "+os.Getenv("ACCESS_TOKEN")') : ''}${
  takesKey ? set('Idempotency-Key', 'rand.Text()') : ''
}${body ? set('Content-Type', `"${body.mediaType}"`) : ''}	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(response.StatusCode, string(content))
}`;
}

// No back quote can stand in a raw string of Go.
function goText(text: string): string {
  return text.includes('`') ? JSON.stringify(text) : `\`${text}\``;
}

function java({ id, method, path, needsToken, takesKey, body }: Call): string {
  const header = (name: string, value: string) => `            .header("${name}", ${value})\n`;
  const publisher = body ? `BodyPublishers.ofString("""\n${block(body.text)}""")` : 'BodyPublishers.noBody()';
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
${takesKey ? 'import java.util.UUID;\n' : ''}
public class ${id.charAt(0).toUpperCase()}${id.slice(1)} {
    public static void main(String[] arguments) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(System.getenv("API") + "${path}"))
${needsToken ? header('Authorization', '"Bearer " + System.getenv("ACCESS_TOKEN")') : ''}${
  takesKey ? header('Idempotency-Key', 'UUID.randomUUID().toString()') : ''
}${body ? header('Content-Type', `"${body.mediaType}"`) : ''}            .method("${method}", ${publisher})
            .build();
        var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        System.out.println(response.statusCode() + " " + response.body());
    }
}`;
}

/** The inside of a text block: its indentation goes, a backslash must be doubled. */
function block(text: string): string {
  return indented(`${' '.repeat(16)}${text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"""')}`, 16);
}

const lines = (entries: string[], depth: number) =>
  entries.map((entry) => `\n${' '.repeat(depth)}${entry},`).join('');

/** All lines but the first are moved in. */
function indented(text: string, depth: number, by = ' '): string {
  return text.replaceAll('\n', `\n${by.repeat(depth)}`);
}

function pythonLiteral(value: unknown, depth = 0): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const entries = Array.isArray(value)
    ? value.map((element) => pythonLiteral(element, depth + 4))
    : Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}: ${pythonLiteral(part, depth + 4)}`);
  if (entries.length === 0) return `${open}${close}`;
  return `${open}${lines(entries, depth + 4)}\n${' '.repeat(depth)}${close}`;
}
