import { once } from 'node:events';
import { connect } from 'node:net';
import type { ApiResponse } from './api.ts';

/**
 * Sends bytes that no HTTP client would send, and reads until the server closes the connection or completes a response.
 * @returns the first response; status 0 if the connection was closed without one.
 */
export async function sendRaw(url: string, ...parts: (string | Buffer)[]): Promise<ApiResponse> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = Buffer.alloc(0);
  socket.on('error', () => {});
  const whole = new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      const { headers, body } = split(received);
      if (headers !== undefined && body.length >= Number(headers['content-length'] ?? 0)) resolve();
    });
  });
  await once(socket, 'connect');
  for (const part of parts) socket.write(part);
  await whole;
  socket.destroy();

  const { status, headers = {}, body } = split(received);
  const text = body.toString();
  const json = headers['content-type']?.includes('json') && text !== '';
  return { status, headers, text, body: json ? JSON.parse(text) : undefined };
}

function split(received: Buffer): { status: number; headers?: Record<string, string>; body: Buffer } {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return { status: 0, body: Buffer.alloc(0) };
  const [statusLine = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: received.subarray(end + 4),
  };
}
