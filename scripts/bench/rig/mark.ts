/** A request id that tells when the request was sent; the events of a write carry it to their receivers. */
export function markNow(): string {
  return `bench-${(performance.timeOrigin + performance.now()).toFixed(3)}`;
}

/** When the write that caused an event was sent, in milliseconds since the epoch; undefined when it is not marked. */
export function timeOf(payload: string): number | undefined {
  const time = /"request_id":"bench-([\d.]+)"/.exec(payload)?.[1];
  return time === undefined ? undefined : Number(time);
}
