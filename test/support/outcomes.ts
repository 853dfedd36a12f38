import type { Claim } from '../../src/webhooks/delivery/claim.ts';
import type { AttemptResult } from '../../src/webhooks/delivery/deliver.ts';
import type { Outcome } from '../../src/webhooks/delivery/outcomes.ts';

/** The outcome of a claim whose delivery the receiver accepts. */
export function delivered(claim: Claim): Outcome {
  return {
    claim,
    startedAt: claim.claimed_at,
    result: accepted,
    state: 'delivered',
    retryInMs: null,
    failedReason: null,
  };
}

const accepted: AttemptResult = {
  ok: true,
  status: 204,
  error: null,
  durationMs: 1,
  responseExcerpt: null,
  gone: false,
};
