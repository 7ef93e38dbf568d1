import type { ReactNode } from "react";
import { IconButton } from "./icon-button.tsx";
import { X } from "./icons.ts";
import { Spinner } from "./spinner.tsx";
import { uiText } from "./text.ts";

/** The toolbar of a selection: how much is selected, a button to clear the selection, and the actions on it. */
export function SelectionToolbar({
  count,
  loading,
  onClear,
  children,
}: {
  readonly count: number;
  /** What is being loaded for the selection. */
  readonly loading?: string | undefined;
  readonly onClear: () => void;
  readonly children: ReactNode;
}) {
  return (
    <div
      role="toolbar"
      aria-label={uiText.selectionBar}
      className="flex min-h-11 shrink-0 items-center gap-1 rounded-xl bg-accent-soft px-1 text-ink"
    >
      <IconButton label={uiText.clearSelection} icon={X} onClick={onClear} />
      <span className="me-auto flex min-w-0 items-center gap-2 text-sm font-medium">
        <span className="truncate">{uiText.selected({ n: count })}</span>
        {loading !== undefined && <Spinner size={16} label={loading} />}
      </span>
      {children}
    </div>
  );
}
