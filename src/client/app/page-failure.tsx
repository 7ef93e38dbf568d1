import { useEffect, useRef } from "react";
import { useIsReached } from "../api/connection.ts";
import { OfflineError } from "../api/http.ts";
import { ErrorState } from "../ui/error-state.tsx";
import { retryFailedParts } from "../ui/lazy-part.ts";

/** How long to wait before the automatic attempt, so that a failure that repeats does not cause a flood of requests. */
const RETRY_MS = 1000;

/**
 * Shown in place of a page that could not be loaded. After a lost connection, the page is loaded again as soon as the
 * server can be reached.
 * @param onRetry renders the page again
 */
export function PageFailure(props: {
  readonly error: unknown;
  readonly onRetry: () => void;
  readonly isWholePage?: boolean;
}) {
  const retry = () => {
    retryFailedParts();
    props.onRetry();
  };
  useRetryWhenReached(props.error, retry);
  return <ErrorState {...props} onRetry={retry} />;
}

function useRetryWhenReached(error: unknown, retry: () => void): void {
  const isReached = useIsReached();
  const latest = useRef(retry);
  useEffect(() => {
    latest.current = retry;
  });
  useEffect(() => {
    if (!isReached || !(error instanceof OfflineError)) return undefined;
    const timer = setTimeout(() => latest.current(), RETRY_MS);
    return () => clearTimeout(timer);
  }, [error, isReached]);
}
