import { Columns3 } from "lucide-react";
import { ArrowDown, ArrowUp } from "../../ui/icons.ts";
import type { ReactNode } from "react";
import type { Entry } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { ContextMenu, Menu } from "../../ui/menu.tsx";
import { text } from "../text.ts";
import { ColumnSeparator } from "./column-separator.tsx";
import { widthOf } from "./fit-columns.ts";
import type { GridColumns, GridSort, SortOption } from "./grid-types.ts";
import { HEADER_HEIGHT } from "./tile-layout.ts";
import type { GridLayout } from "./use-grid-layout.ts";

/** The column headers: those that sort are buttons, and the lines between them change the widths. */
export function ListHeader<T extends Entry>({
  columns,
  layout: { fitting, isNarrow, spare },
  isSelecting,
  sort,
}: {
  readonly columns: GridColumns<T>;
  readonly layout: GridLayout<T>;
  readonly isSelecting: boolean;
  readonly sort: GridSort | undefined;
}) {
  const items = isNarrow ? [] : columns.menu();
  return (
    <div role="rowgroup" className="sticky top-0 z-10 bg-raised">
      <ContextMenu items={items} label={text.columns}>
        <div
          role="row"
          aria-rowindex={1}
          data-part="header"
          className="grid items-center gap-3 border-b border-line px-2 text-xs font-medium text-muted"
          style={{ gridTemplateColumns: "var(--list-columns)", height: HEADER_HEIGHT }}
        >
          <NameHeader isSelecting={isSelecting} isNarrow={isNarrow} sort={sort} />
          {fitting.map((column) => (
            <ColumnHeader key={column.id} header={column.header()} option={optionOf(sort, column.sort)} sort={sort}>
              <ColumnSeparator
                label={text.widthOf({ name: column.header() })}
                width={widthOf(column, columns.widths)}
                spare={spare}
                onResize={(width) => columns.resize(column.id, width)}
              />
            </ColumnHeader>
          ))}
          <div role="columnheader">
            {isNarrow ? (
              <span className="sr-only">{text.more}</span>
            ) : (
              <Menu
                align="end"
                label={text.columns}
                trigger={
                  <IconButton
                    label={text.columns}
                    icon={Columns3}
                    iconSize={16}
                    className="size-8 min-h-0! text-muted!"
                  />
                }
                items={items}
              />
            )}
          </div>
        </div>
      </ContextMenu>
    </div>
  );
}

/** The header of the names. It begins where the names begin, after check mark and thumbnail. */
function NameHeader({
  isSelecting,
  isNarrow,
  sort,
}: {
  readonly isSelecting: boolean;
  readonly isNarrow: boolean;
  readonly sort: GridSort | undefined;
}) {
  // In a narrow list this is the only header, so it shows any order.
  const option =
    isNarrow && sort !== undefined
      ? optionOf(sort, sort.field)
      : sort?.options.find(({ field }) => field === "natural" || field === "name");
  return (
    <div role="columnheader" aria-sort={sortedBy(option, sort)} className="flex min-w-0 gap-3">
      <span className={cx("w-5 shrink-0", !isSelecting && "max-sm:hidden pointer-coarse:hidden")} />
      <span className="w-8 shrink-0" />
      <SortButton header={isNarrow && option !== undefined ? option.label() : text.name} option={option} sort={sort} />
    </div>
  );
}

function ColumnHeader({
  header,
  option,
  sort,
  children,
}: {
  readonly header: string;
  readonly option: SortOption | undefined;
  readonly sort: GridSort | undefined;
  readonly children: ReactNode;
}) {
  return (
    <div role="columnheader" aria-sort={sortedBy(option, sort)} className="relative flex h-8 min-w-0 items-center">
      {children}
      <SortButton header={header} option={option} sort={sort} />
    </div>
  );
}

function SortButton({
  header,
  option,
  sort,
}: {
  readonly header: string;
  readonly option: SortOption | undefined;
  readonly sort: GridSort | undefined;
}) {
  if (option === undefined || sort === undefined) return <span className="block truncate">{header}</span>;
  const isSorted = sort.field === option.field;
  const Arrow = sort.order === "asc" ? ArrowUp : ArrowDown;
  const opposite = sort.order === "asc" ? "desc" : "asc";
  return (
    <button
      type="button"
      onClick={() => sort.change(option.field, isSorted ? opposite : (option.order ?? "asc"))}
      className={cx(
        "reach -ms-1 flex h-8 max-w-full items-center gap-1 rounded px-1 hover:text-ink",
        isSorted && "text-ink",
      )}
    >
      <span className="truncate">{header}</span>
      {isSorted && <Arrow className="size-3.5 shrink-0" aria-hidden="true" />}
    </button>
  );
}

function optionOf(sort: GridSort | undefined, field: string | undefined): SortOption | undefined {
  return field === undefined ? undefined : sort?.options.find((option) => option.field === field);
}

/** The value of `aria-sort`; undefined for a column that does not sort. */
function sortedBy(option: SortOption | undefined, sort: GridSort | undefined) {
  if (option === undefined || sort === undefined) return undefined;
  if (sort.field !== option.field) return "none";
  return sort.order === "asc" ? "ascending" : "descending";
}
