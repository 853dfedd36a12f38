/*
 * A start of the service holds its document against the schema of OpenAPI, resolves its references and derives the
 * routes from it: two thirds of a start. A process that starts many services does so once for each document.
 */
interface Parser {
  parse(specification: object, options: object): Promise<object>;
}

// The package does not export it.
const file = new URL('lib/Parser.js', import.meta.resolve('fastify-openapi-glue'));
const { prototype }: { prototype: Parser } = (await import(file.href)).Parser;
const { parse } = prototype;
const parsed = new Map<string, Promise<object>>();

prototype.parse = function (specification, options) {
  const key = JSON.stringify([specification, options]);
  const found = parsed.get(key) ?? parse.call(this, specification, options);
  parsed.set(key, found);
  return found;
};
