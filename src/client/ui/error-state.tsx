import { RotateCw, TriangleAlert } from "./icons.ts";
import { messageOf, OfflineError } from "../api/http.ts";
import { Button } from "./button.tsx";
import { uiText } from "./text.ts";

/**
 * Shown in place of content that could not be loaded, with a button to try again.
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
