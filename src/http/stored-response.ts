/**
 * A response as it is stored for repeats: JSON, compressed unless it is small, then encrypted, since it may contain the
 * secret of a webhook. The response to a call on hundreds of items has hundreds of kilobytes; compression reduces it to
 * a thirtieth.
 */
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import type { Seal } from '../db/seal.ts';
import { ApiError } from './errors.ts';

export interface OperationResponse {
  status: number;
  headers: object;
  /** That of the body; absent: JSON. */
  mediaType?: string;
  body: unknown;
}

/** What to store of a response or a refusal. */
export async function closeResponse(seal: Seal, outcome: OperationResponse | ApiError): Promise<Buffer> {
  const json = Buffer.from(JSON.stringify(storedForm(outcome)));
  // The previous release, which may have to read it, supports neither key names nor compression.
  const isSmall = json.length < 1_024 || !seal.isNaming;
  return seal.close(isSmall ? json : Buffer.concat([compressed, await compress(json, options)]));
}

/**
 * The response with the header that marks a repeat.
 * @throws the refusal, if a refusal was stored.
 */
export async function openResponse(seal: Seal, sealed: Buffer): Promise<OperationResponse> {
  const opened = seal.openBytes(sealed);
  const json = opened[0] === compressed[0] ? await decompress(opened.subarray(1)) : opened;
  return replayed(JSON.parse(json.toString()));
}

// In separate threads, so that other requests continue meanwhile.
const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

// Takes a third of the time of the next level, and the result is at most a tenth larger.
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

// JSON begins with a brace.
const compressed = Buffer.from([1]);

// The format of rows from earlier releases.
type StoredForm = { answer: OperationResponse } | { refusal: Omit<ApiError, 'message'> & { detail: string } };

function storedForm(outcome: OperationResponse | ApiError): StoredForm {
  if (!(outcome instanceof ApiError)) return { answer: outcome };
  return { refusal: { ...outcome, detail: outcome.message } };
}

function replayed(stored: StoredForm): OperationResponse {
  const mark = { 'Idempotency-Replayed': 'true' };
  if ('answer' in stored) return { ...stored.answer, headers: { ...stored.answer.headers, ...mark } };
  const { status, title, code, detail, headers, errors } = stored.refusal;
  throw new ApiError(status, title, code, detail, {
    headers: { ...headers, ...mark },
    ...(errors && { errors }),
  });
}
