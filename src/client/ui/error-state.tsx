import { useEffect, useRef } from "react";
import { RotateCw, TriangleAlert } from "./icons.ts";
import { useIsReached } from "../api/connection.ts";
import { messageOf, OfflineError } from "../api/http.ts";
import { Button } from "./button.tsx";
import { uiText } from "./text.ts";

/** How long to wait with the automatic attempt, so that a failure that repeats does not cause a flood of requests. */
const RETRY_MS = 1000;

/**
 * Shown in place of content that could not be loaded, with a button to try again. After a lost connection, tries again
 * automatically when the server can be reached.
 * @param isWholePage there is nothing else on the page, so the title is its heading
 */
export function ErrorState({
  error,
  onRetry,
  isWholePage = false,
}: {
  readonly error: unknown;
  readonly onRetry?: () => void;
  readonly isWholePage?: boolean;
}) {
  useRetryWhenReached(error, onRetry);
  const Title = isWholePage ? "h1" : "p";
  return (
    <div role="alert" className="flex flex-col items-center justify-center gap-3 px-6 py-16 text-center">
      <span className="inline-flex size-16 items-center justify-center rounded-full bg-danger-soft text-danger">
        <TriangleAlert aria-hidden size={30} strokeWidth={1.5} />
      </span>
      <Title className="text-lg font-medium">
        {isWholePage && error instanceof OfflineError ? uiText.noConnection : uiText.failedTitle}
      </Title>
      <p className="max-w-md text-sm break-words text-muted">{messageOf(error)}</p>
      {onRetry !== undefined && (
        <Button icon={RotateCw} onClick={onRetry}>
          {uiText.tryAgain}
        </Button>
      )}
    </div>
  );
}

function useRetryWhenReached(error: unknown, onRetry: (() => void) | undefined): void {
  const isReached = useIsReached();
  const latest = useRef(onRetry);
  useEffect(() => {
    latest.current = onRetry;
  });
  useEffect(() => {
    if (!isReached || !(error instanceof OfflineError)) return undefined;
    const timer = setTimeout(() => latest.current?.(), RETRY_MS);
    return () => clearTimeout(timer);
  }, [error, isReached]);
}
