import { QueryClient } from "@tanstack/react-query";
import { ApiError, OfflineError } from "./http.ts";

/** How long to wait before retry number `attempt` (from 0): longer each time, or as long as the server asked. */
export function retryDelayMs(attempt: number, error: unknown): number {
  if (error instanceof ApiError && error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1000;
  return Math.min(1000 * 2 ** attempt, 30_000);
}

/**
 * Whether to retry a query. Network failures and a busy server (502 to 504) are retried four times. A rate limit (429)
 * is retried twice if the server asks for at most a minute. Other errors are never retried.
 */
export function isRetried(attempt: number, error: unknown): boolean {
  if (error instanceof OfflineError) return attempt < 4;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429) return attempt < 2 && (error.retryAfterSeconds ?? 0) <= 60;
  return (error.status === 503 || error.status === 502 || error.status === 504) && attempt < 4;
}

/** The query cache that all pages share. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: isRetried,
      retryDelay: retryDelayMs,
      // The page itself detects whether the server can be reached; the browser's own network state is often wrong.
      networkMode: "always",
    },
    mutations: { retry: false, networkMode: "always" },
  },
});
