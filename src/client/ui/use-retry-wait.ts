import { useEffect, useState } from "react";
import { ApiError } from "../api/http.ts";

/** How long a refusal asks to wait. */
export interface RetryWait {
  /** Seconds in all; 0 where the refusal is another. */
  readonly totalSeconds: number;
  /** Seconds from now, counted down to 0. */
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
