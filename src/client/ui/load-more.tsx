import { Button } from "./button.tsx";
import { uiText } from "./text.ts";

/** The button that loads the rest of a list. */
export function LoadMore({
  hasMore,
  isLoading,
  onLoad,
  label = uiText.loadMore,
}: {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly onLoad: () => void;
  readonly label?: string;
}) {
  if (!hasMore) return null;
  return (
    <div className="flex justify-center py-4">
      <Button busy={isLoading} onClick={onLoad}>
        {label}
      </Button>
    </div>
  );
}
