import { once } from 'node:events';
import { connect } from 'node:net';
import type { Answer } from './api.ts';

/**
 * Sends bytes that no HTTP client would, and reads until the server closes the connection or has sent a whole answer.
 * @returns the first answer; with status 0 when the connection was closed without one.
 */
export async function sendRaw(url: string, ...parts: (string | Buffer)[]): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  socket.setEncoding('latin1').on('error', () => {});
  const whole = new Promise<void>((resolve) => {
    socket.on('data', (text) => {
      received += text;
      if (isWhole(received)) resolve();
    });
    socket.on('close', () => resolve());
  });
  await once(socket, 'connect');
  for (const part of parts) socket.write(part);
  await whole;
  socket.destroy();
  return parse(received);
}

function isWhole(received: string): boolean {
  const { headers, text } = parse(received);
  return received.includes('\r\n\r\n') && text.length >= Number(headers['content-length'] ?? 0);
}

function parse(received: string): Answer {
  const end = received.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = received.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const text = end < 0 ? '' : Buffer.from(received.slice(end + 4), 'latin1').toString();
  const whole = text.length > 0 && text.length >= Number(headers['content-length'] ?? 0);
  return {
    status: Number(statusLine.split(' ')[1] ?? 0),
    headers,
    text,
    body: whole && headers['content-type']?.includes('json') ? JSON.parse(text) : undefined,
  };
}
