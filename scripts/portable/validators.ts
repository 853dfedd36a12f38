import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { editions } from './documents.ts';
import { installGenerator, installTools } from './tools.ts';

/**
 * Validates both editions with swagger-parser in JavaScript (its own) and in Java (openapi-generator's); and every price
 * with a decimal or two with Ajv as it comes.
 * @param folder of both editions
 * @returns a line for each edition that a tool refuses
 */
export function validate(folder: string): string[] {
  const tools = installTools();
  const generator = installGenerator();
  return editions.flatMap((edition) => {
    const file = join(folder, edition);
    return [
      ...refusal('swagger-parser', edition, [process.execPath, join(tools, 'swagger-parser.js'), file]),
      ...refusal('openapi-generator', edition, [generator, 'validate', '--input-spec', file]),
      ...refusedPrices(edition, file),
    ];
  });
}

function refusal(tool: string, edition: string, command: string[]): string[] {
  const [program = '', ...args] = command;
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 << 20 });
  return status === 0 ? [] : [`${tool} refuses ${edition}: ${`${stdout}${stderr}`.trim().slice(0, 800)}`];
}

/** A line when Ajv, without options, refuses prices of one or two decimals. */
export function refusedPrices(edition: string, file: string): string[] {
  const { Price, Item } = JSON.parse(readFileSync(file, 'utf8')).components.schemas;
  const ajv = edition === 'openapi.json' ? new Ajv2020({ strict: false }) : new Ajv({ strict: false });
  const accepts = ajv.compile(Price ?? Item.properties.price);
  const prices = Array.from({ length: 10_001 }, (_, cents) => cents / 100);
  const refused = prices.filter((price) => !accepts(price));
  const shown = refused.slice(0, 3).join(', ');
  return refused.length === 0 ? [] : [`Ajv refuses ${refused.length} prices of ${edition}: ${shown}`];
}
