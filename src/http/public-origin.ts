import type { IncomingMessage } from 'node:http';
import { peerTrust } from './client-address.ts';

// A name, an IPv4 address or an IPv6 one in brackets, and a port.
const hostForm = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Finds the origin under which a client has reached the service: `Host`, over HTTP, unless a trusted proxy says
 * otherwise in `X-Forwarded-Host` and `X-Forwarded-Proto`. The last entry counts, since the nearest proxy has written
 * it.
 * @param proxies CIDRs of the trusted proxies.
 * @returns a function that returns, for example, `https://menus.example.com`; undefined when no host is named.
 * @throws when a CIDR is malformed.
 */
export function publicOrigin(proxies: readonly string[]): (request: IncomingMessage) => string | undefined {
  const isFromProxy = peerTrust(proxies);
  return (request) => {
    const forwarded = (name: string) =>
      isFromProxy(request) ? [request.headers[name]].flat().join().split(',').at(-1)?.trim() : undefined;
    const host = forwarded('x-forwarded-host') || request.headers.host || '';
    const scheme = forwarded('x-forwarded-proto')?.toLowerCase() === 'https' ? 'https' : 'http';
    const origin = `${scheme}://${host}`;
    return hostForm.test(host) && URL.canParse(origin) ? new URL(origin).origin : undefined;
  };
}
