import { CheckCheck } from "lucide-react";
import { Download, EllipsisVertical, FolderInput, Share2, Star, Trash2 } from "../../ui/icons.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { text } from "../text.ts";
import type { SelectionActions } from "./use-selection-actions.tsx";
import { SelectionToolbar } from "../../ui/selection-toolbar.tsx";

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
    <SelectionToolbar count={count} loading={isLoading ? text.gathering : undefined} onClear={onClear}>
      {actions.download !== undefined && (
        <IconButton label={text.download} icon={Download} onClick={actions.download} />
      )}
      {actions.share !== undefined && <IconButton label={text.share} icon={Share2} onClick={actions.share} />}
      {actions.toggleFavorite !== undefined && (
        <IconButton
          label={actions.areFavorites ? text.removeFavorite : text.addFavorite}
          icon={Star}
          onClick={actions.toggleFavorite}
          className="max-sm:hidden"
        />
      )}
      {/* Phones have no room for it. It is in the menu too. */}
      {actions.move !== undefined && (
        <IconButton label={text.move} icon={FolderInput} className="max-sm:hidden" onClick={actions.move} />
      )}
      {actions.trash !== undefined && <IconButton label={text.remove} icon={Trash2} onClick={actions.trash} />}
      <Menu
        align="end"
        trigger={<IconButton label={text.more} icon={EllipsisVertical} hasTooltip={false} />}
        items={() => [
          { label: text.selectAll, icon: CheckCheck, keys: "mod+a", run: onSelectAll },
          null,
          ...actions.items(),
        ]}
      />
    </SelectionToolbar>
  );
}
