import type { Claim } from '../../src/webhooks/delivery/claim.ts';
import type { AttemptResult } from '../../src/webhooks/delivery/deliver.ts';
import type { Outcome } from '../../src/webhooks/delivery/outcomes.ts';

/** What comes of a claim when the receiver takes it. */
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
