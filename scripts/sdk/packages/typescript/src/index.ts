import createFetchClient, { type Client, type ClientOptions } from 'openapi-fetch';
import type { components, paths } from './generated.js';

export type { components, operations, paths, webhooks } from './generated.js';

/** The schemas of the contract by name: `Schemas['Item']`. */
export type Schemas = components['schemas'];

/**
 * Calls the operations of the contract by their method and path.
 * @param options `baseUrl` (`https://…/api/v1`), `headers` such as `Authorization`, and what else openapi-fetch takes
 */
export function createClient(options: ClientOptions): Client<paths> {
  return createFetchClient<paths>(options);
}
