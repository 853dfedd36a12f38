import { type Credentials, fetchToken } from '../../scripts/launch.ts';
import { type ApiResponse, send } from '../support/api.ts';

/** A process that can be called. */
export interface Callee {
  name: string;
  address: string;
}

/** The harness's own calls to one process, apart from the load; each response is checked against the contract. */
export class Session {
  readonly #callee: Callee;
  readonly #credentials: Credentials;
  #token: string | undefined;

  constructor(callee: Callee, credentials: Credentials) {
    this.#callee = callee;
    this.#credentials = credentials;
  }

  /** @param path below /api/v1. @throws when there is no response, or no token */
  async call(method: string, path: string, body?: object): Promise<ApiResponse> {
    const { address } = this.#callee;
    this.#token ??= await fetchToken(address, this.#credentials);
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(body && { 'content-type': 'application/json' }),
    };
    const response = await send(address, method, `/api/v1${path}`, headers, body && JSON.stringify(body));
    if (response.status === 401) this.#token = undefined;
    return response;
  }

  /** The body of a response that must be a success. @throws when it is not */
  // biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
  async bodyOf(method: string, path: string, json?: object): Promise<any> {
    const { status, text, body } = await this.call(method, path, json);
    if (status >= 300) throw new Error(`${method} ${path} returned ${status}: ${text}`);
    return body;
  }
}

/** Whether a call failed on its way or with a 503, as opposed to a response that breaks the contract. */
export function isOfNetwork({ code, message, cause }: Error & { code?: string }): boolean {
  return (
    (code ?? (cause as { code?: string } | undefined)?.code) !== undefined || /^no token: 503/.test(message)
  );
}
