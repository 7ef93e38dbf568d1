import { useEffect, useState } from "react";
import { ApiError } from "../api/http.ts";

/** How long the server asks to wait before the next attempt. */
export interface RetryWait {
  /** The total in seconds; 0 if the error asks for no wait. */
  readonly totalSeconds: number;
  /** The remaining seconds, counted down to 0. */
  readonly secondsLeft: number;
}

/** The wait that an error asks for (429 with `Retry-After`), counted down. */
export function useRetryWait(error: unknown): RetryWait {
  const totalSeconds = error instanceof ApiError && error.status === 429 ? (error.retryAfterSeconds ?? 0) : 0;
  const [secondsLeft, setLeft] = useState(0);
  useEffect(() => {
    const endsAt = performance.now() + totalSeconds * 1000;
    const tick = () => setLeft(Math.max(0, Math.ceil((endsAt - performance.now()) / 1000)));
    tick();
    if (totalSeconds === 0) return undefined;
    const timer = setInterval(tick, 500);
    return () => clearInterval(timer);
  }, [totalSeconds, error]);
  return { totalSeconds, secondsLeft };
}
