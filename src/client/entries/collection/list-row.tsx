import { Check, EllipsisVertical } from "../../ui/icons.ts";
import { memo } from "react";
import type { Entry } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import { text } from "../text.ts";
import { EntryName } from "./entry-name.tsx";
import type { GridColumn, GridDisplay } from "./grid-types.ts";
import { ShareMarks } from "./share-marks.tsx";
import { Thumbnail } from "./thumbnail.tsx";

/** Props of a row or tile; without an entry it shows a placeholder. */
export interface EntryViewProps<T extends Entry> {
  readonly entry: T | undefined;
  readonly position: number;
  readonly display: GridDisplay<T>;
  readonly isSelected: boolean;
  readonly isSelecting: boolean;
  readonly isCursor: boolean;
  readonly isDropTarget: boolean;
  readonly isDraggable: boolean;
}

/** Class names that rows and tiles share. */
export function viewClasses({ entry, display, isSelected, isDropTarget }: EntryViewProps<Entry>): string {
  return cx(
    "group cursor-default outline-offset-[-2px]",
    isSelected ? "bg-accent-soft" : "hover:bg-sunken",
    isDropTarget && "bg-accent-soft ring-2 ring-accent ring-inset",
    entry !== undefined && display.removing.has(entry.id) && "opacity-40",
    // Text stays readable: what was cut can still be opened.
    entry !== undefined && display.cut?.has(entry.id) === true && "italic [&_img]:opacity-40 [&_svg]:opacity-40",
  );
}

/** Attributes that rows and tiles share, besides their role. The grid around them handles keys and pointers. */
export function viewAttributes({ entry, position, display, isSelected, isCursor, isDraggable }: EntryViewProps<Entry>) {
  return {
    "aria-selected": isSelected,
    "aria-busy": entry === undefined,
    tabIndex: isCursor ? 0 : -1,
    "data-position": position,
    "data-kind": entry?.type,
    draggable: isDraggable && entry !== undefined && display.renaming?.id !== entry.id,
  };
}

function Row<T extends Entry>(
  props: EntryViewProps<T> & {
    readonly top: number;
    readonly height: number;
    readonly isNarrow: boolean;
    readonly columns: readonly GridColumn<T>[];
  },
) {
  const { entry, position, display, isSelected, isSelecting, top, height, isNarrow, columns } = props;
  return (
    <div
      {...viewAttributes(props)}
      role="row"
      aria-rowindex={position + 2}
      style={{ height, transform: `translateY(${top}px)`, gridTemplateColumns: "var(--list-columns)" }}
      className={cx(
        viewClasses(props),
        "absolute inset-x-0 top-0 grid items-center gap-3 rounded-lg px-2 text-sm",
        display.renaming?.id === entry?.id && entry !== undefined && "z-10",
      )}
    >
      <div role="gridcell" className="flex min-w-0 items-center gap-3">
        <CheckMark isSelected={isSelected} isShown={isSelecting} />
        {entry === undefined ? (
          <span className="skeleton h-4 w-1/2" aria-label={text.loadingEntry} role="img" />
        ) : (
          <>
            {display.thumbnailOf?.(entry, "small") ?? <Thumbnail entry={entry} size="small" />}
            <div className="min-w-0 flex-1">
              <div className="flex items-center gap-1.5">
                <EntryName entry={entry} display={display} />
                <ShareMarks entry={entry} className="size-4" />
              </div>
              {isNarrow && display.renaming?.id !== entry.id && (
                <span className="block truncate text-xs text-muted">{display.subtitle(entry)}</span>
              )}
              {display.excerptOf !== undefined && display.renaming?.id !== entry.id && (
                <div className="truncate text-xs text-muted">{display.excerptOf(entry)}</div>
              )}
            </div>
          </>
        )}
      </div>
      {!isNarrow &&
        columns.map((column) => (
          <div role="gridcell" key={column.id} className="min-w-0 truncate text-muted">
            {entry === undefined ? <span className="skeleton block h-3 w-2/3" /> : column.render(entry)}
          </div>
        ))}
      <div role="gridcell">{entry !== undefined && <MenuButton name={entry.name} />}</div>
    </div>
  );
}

/** A row of the list. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- memo forgets that the component is generic
export const ListRow = memo(Row) as typeof Row;

/** Only an indicator, not a control: the row itself has `aria-selected`. */
export function CheckMark({ isSelected, isShown }: { readonly isSelected: boolean; readonly isShown: boolean }) {
  return (
    <span
      aria-hidden="true"
      data-part="check"
      className={cx(
        "grid size-5 shrink-0 place-items-center rounded border",
        isSelected ? "border-accent bg-accent text-on-accent" : "border-line-strong bg-raised",
        !isSelected &&
          !isShown &&
          "opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100 max-sm:hidden pointer-coarse:hidden",
      )}
    >
      {isSelected && <Check className="size-4" />}
    </span>
  );
}

/** Opens the context menu. It is not a tab stop, because Shift+F10 does the same. */
export function MenuButton({ name }: { readonly name: string }) {
  return (
    <button
      type="button"
      tabIndex={-1}
      data-part="menu"
      aria-label={text.moreFor({ name })}
      aria-haspopup="menu"
      className="grid size-8 place-items-center rounded-md text-muted hover:bg-raised hover:text-ink pointer-coarse:size-11"
    >
      <EllipsisVertical className="size-4" aria-hidden="true" />
    </button>
  );
}
