import { CheckCheck } from "lucide-react";
import { Download, EllipsisVertical, FolderInput, Share2, Trash2, X } from "../../ui/icons.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { text } from "../text.ts";
import type { SelectionActions } from "./use-selection-actions.tsx";

/** The toolbar of the selection: the number of selected entries and the actions on them. */
export function SelectionBar({
  count,
  isLoading,
  actions,
  onSelectAll,
  onClear,
}: {
  readonly count: number;
  readonly isLoading: boolean;
  readonly actions: SelectionActions;
  readonly onSelectAll: () => void;
  readonly onClear: () => void;
}) {
  return (
    <div
      role="toolbar"
      aria-label={text.selectionBar}
      className="flex h-11 items-center gap-1 rounded-xl bg-accent-soft ps-1 pe-1 text-ink"
    >
      <IconButton label={text.clearSelection} icon={X} onClick={onClear} />
      <span className="me-auto flex items-center gap-2 truncate text-sm font-medium">
        {text.selected(count)}
        {isLoading && <Spinner size={16} label={text.gathering} />}
      </span>
      <IconButton label={text.download} icon={Download} onClick={actions.download} />
      {actions.share !== undefined && <IconButton label={text.share} icon={Share2} onClick={actions.share} />}
      {actions.canWrite && (
        <>
          <IconButton label={text.move} icon={FolderInput} onClick={actions.move} />
          <IconButton label={text.remove} icon={Trash2} onClick={actions.trash} />
        </>
      )}
      <Menu
        align="end"
        trigger={<IconButton label={text.more} icon={EllipsisVertical} hasTooltip={false} />}
        items={() => [
          { label: text.selectAll, icon: CheckCheck, keys: "mod+a", run: onSelectAll },
          null,
          ...actions.items(),
        ]}
      />
    </div>
  );
}
