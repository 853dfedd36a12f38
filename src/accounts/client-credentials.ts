import { OAuthFailure, RefusedClient } from '../http/errors.ts';
import type { AuthenticateClient } from './authenticate-client.ts';
import type { Client } from './client.ts';

/** The client credentials in a request to the token or the revocation endpoint. */
interface ShownCredentials {
  authorization: string | undefined;
  body: { client_id?: string; client_secret?: string };
}

/**
 * The client that a request shows the credentials of, by HTTP Basic or in the form (RFC 6749, section 2.3). Another
 * scheme authenticates no client: some generated clients send their access token with every call.
 * @throws invalid_client, or invalid_request for two ways of authentication at once.
 */
export async function requireClient(
  authenticateClient: AuthenticateClient,
  { authorization, body }: ShownCredentials,
): Promise<Client> {
  const { id, secret } = credentials(authorization, body);
  const client = await authenticateClient(id, secret);
  if (!client) throw new RefusedClient('The client is unknown or disabled, or its secret is wrong.', id);
  return client;
}

// RFC 6749, section 2.3: exactly one way of authentication in a request.
function credentials(
  authorization: string | undefined,
  { client_id, client_secret }: ShownCredentials['body'],
): { id: string; secret: string } {
  if (authorization !== undefined && (client_secret === undefined || /^Basic /i.test(authorization))) {
    const { id, secret } = basicCredentials(authorization);
    if (client_secret !== undefined || (client_id !== undefined && client_id !== id)) {
      throw new OAuthFailure(
        'invalid_request',
        'Send the client credentials by HTTP Basic or in the body, not both.',
      );
    }
    return { id, secret };
  }
  if (client_id === undefined || client_secret === undefined) throw noCredentials();
  return { id: client_id, secret: client_secret };
}

// RFC 6749, section 2.3.1: both parts are form-encoded before they are joined.
function basicCredentials(authorization: string): { id: string; secret: string } {
  const basic = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1] ?? '';
  const [id = '', ...rest] = Buffer.from(basic, 'base64').toString().split(':').map(formDecoded);
  // Printable ASCII is all that either may hold (RFC 6749, appendix A); a database refuses some of the rest.
  if (!/^[\x20-\x7e]+$/.test(id)) throw noCredentials();
  return { id, secret: rest.join(':') };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function noCredentials(): RefusedClient {
  return new RefusedClient('Send client_id and client_secret by HTTP Basic or in the body.');
}
