import { ArrowDown, ArrowUp } from "../../ui/icons.ts";
import type { Entry } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import type { SortField } from "../read-preferences.ts";
import { text } from "../text.ts";
import type { GridColumn, GridSort } from "./grid-types.ts";

/** Height of the header, in CSS pixels. */
export const HEADER_HEIGHT = 40;

/** The column headers; those that sort are buttons. */
export function ListHeader<T extends Entry>({
  columns,
  template,
  isNarrow,
  sort,
}: {
  readonly columns: readonly GridColumn<T>[];
  readonly template: string;
  readonly isNarrow: boolean;
  readonly sort: GridSort | undefined;
}) {
  const name = { id: "name", header: text.name, ...(sort !== undefined && { sort: "name" as const }) };
  return (
    <div role="rowgroup" className="sticky top-0 z-10 bg-raised">
      <div
        role="row"
        aria-rowindex={1}
        className="grid items-center gap-3 border-b border-line px-2 text-xs font-medium text-muted"
        style={{ gridTemplateColumns: template, height: HEADER_HEIGHT }}
      >
        {[name, ...(isNarrow ? [] : columns)].map((column) => (
          <ColumnHeader key={column.id} header={column.header} field={column.sort} sort={sort} />
        ))}
        <div role="columnheader">
          <span className="sr-only">{text.more}</span>
        </div>
      </div>
    </div>
  );
}

function ColumnHeader({
  header,
  field,
  sort,
}: {
  readonly header: string;
  readonly field: SortField | undefined;
  readonly sort: GridSort | undefined;
}) {
  if (field === undefined || sort === undefined) {
    return (
      <div role="columnheader" className="truncate">
        {header}
      </div>
    );
  }
  const isSorted = sort.field === field;
  const Arrow = sort.order === "asc" ? ArrowUp : ArrowDown;
  return (
    <div
      role="columnheader"
      aria-sort={isSorted ? (sort.order === "asc" ? "ascending" : "descending") : "none"}
      className="min-w-0"
    >
      <button
        type="button"
        onClick={() => sort.change(field, isSorted && sort.order === "asc" ? "desc" : "asc")}
        className={cx(
          "flex h-8 max-w-full items-center gap-1 rounded px-1 -ms-1 hover:text-ink",
          isSorted && "text-ink",
        )}
      >
        <span className="truncate">{header}</span>
        {isSorted && <Arrow className="size-3.5 shrink-0" aria-hidden="true" />}
      </button>
    </div>
  );
}
