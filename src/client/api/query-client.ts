import { QueryClient } from "@tanstack/react-query";
import { ApiError, OfflineError } from "./http.ts";

/** How long to wait before try `attempt` (from 0): longer each time, or what the server asked for. */
export function retryDelayMs(attempt: number, error: unknown): number {
  if (error instanceof ApiError && error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1000;
  return Math.min(1000 * 2 ** attempt, 30_000);
}

/**
 * Whether a question is asked again: where the network failed or the server was busy, a few times; where it asked for a
 * pause that a person would wait for (a minute), after that pause; where it refused, never.
 */
export function isRetried(attempt: number, error: unknown): boolean {
  if (error instanceof OfflineError) return attempt < 4;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429) return attempt < 2 && (error.retryAfterSeconds ?? 0) <= 60;
  return (error.status === 503 || error.status === 502 || error.status === 504) && attempt < 4;
}

/** The answers that all pages share. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: isRetried,
      retryDelay: retryDelayMs,
      // The page says itself that the server can't be reached; what the browser believes of the network is often wrong.
      networkMode: "always",
    },
    mutations: { retry: false, networkMode: "always" },
  },
});
