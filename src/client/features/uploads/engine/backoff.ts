/**
 * Waits between attempts in milliseconds: the first short enough for a brief interruption, the last short enough for an
 * outage of a night.
 */
const DELAYS_MS = [500, 1000, 2000, 4000, 8000, 15_000] as const;

/** A wait that can be cut short. */
export interface WakeableWait {
  readonly done: Promise<void>;
  wake(): void;
}

/**
 * How long to wait before retry number `attempt` (from 0), in milliseconds. Spread by up to a quarter, so that many
 * files don't retry at the same instant. A wait that the server asked for is respected, up to two minutes.
 */
export function delayBefore(attempt: number, retryAfterSeconds: number | undefined, random = Math.random()): number {
  const own = DELAYS_MS[Math.min(attempt, DELAYS_MS.length - 1)] ?? 15_000;
  const serverWait = Math.min(retryAfterSeconds ?? 0, 120) * 1000;
  return Math.max(own, serverWait) * (1 + random / 4);
}

/** Waits `ms`, or until it is woken. */
export function wakeableWait(ms: number): WakeableWait {
  let wake = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
  return { done, wake: () => wake() };
}
