/*
 * The service holds its document against the schema of OpenAPI whenever it starts. To compile that schema takes a tenth
 * of the time of the tests, so a process compiles it once for all the services that it starts.
 */
import { Validator } from '@seriousme/openapi-schema-validator';

interface Compiling {
  getAjvValidator(version: string): object;
}

const { prototype } = Validator as unknown as { prototype: Compiling };
const { getAjvValidator } = prototype;
const compiled = new Map<string, object>();

prototype.getAjvValidator = function (version) {
  const found = compiled.get(version) ?? getAjvValidator.call(this, version);
  compiled.set(version, found);
  return found;
};
