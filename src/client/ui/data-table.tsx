import { ArrowDown, ArrowUp } from "./icons.ts";
import type { ReactNode } from "react";
import { cx } from "./cx.ts";

/** A column of a {@link DataTable}. */
export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** The column that names the row; screen readers announce it with each cell. */
  readonly isHeader?: boolean;
  /** Numbers are aligned to the end. */
  readonly align?: "start" | "end";
  /** Whether there is nothing to say in a row. Its card then leaves the line out. */
  readonly isBlank?: (row: Row) => boolean;
  /** Hides the title visually, for columns of buttons. */
  readonly isTitleHidden?: boolean;
  /** The current sort direction by this column. With `onSort` the title is a button. */
  readonly sorted?: "ascending" | "descending" | undefined;
  readonly onSort?: () => void;
}

/** Props of {@link DataTable}. */
export interface DataTableProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** The name of the table for screen readers. */
  readonly caption: string;
}

/**
 * A table. On phones each row becomes a card: its name and its buttons first, then the other values with the column
 * titles in front.
 */
export function DataTable<Row>({ columns, rows, rowKey, caption }: DataTableProps<Row>) {
  const hasButtons = columns.some(({ isTitleHidden }) => isTitleHidden === true);
  return (
    // Roles are explicit because the `display` values used on phones remove the native table roles.
    <table role="table" className="block w-full border-collapse text-sm md:table">
      <caption className="sr-only">{caption}</caption>
      <thead role="rowgroup" className="sr-only md:not-sr-only md:table-header-group">
        <tr role="row">
          {columns.map((column) => (
            <th
              key={column.key}
              role="columnheader"
              scope="col"
              {...(column.sorted !== undefined && { "aria-sort": column.sorted })}
              className={cx("border-b border-line px-3 py-2 font-medium text-muted", alignment(column))}
            >
              <Title column={column} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup" className="block md:table-row-group">
        {rows.map((row) => (
          <tr
            key={rowKey(row)}
            role="row"
            className="grid grid-cols-[minmax(0,1fr)_auto] border-b border-line py-2 last:border-b-0 md:table-row md:py-0 md:hover:bg-sunken"
          >
            {columns.map((column) => (
              <Cell key={column.key} column={column} row={row} hasButtons={hasButtons} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Title<Row>({ column: { title, isTitleHidden, onSort, sorted } }: { readonly column: Column<Row> }) {
  if (isTitleHidden === true) return <span className="sr-only">{title}</span>;
  if (onSort === undefined) return title;
  return (
    <button type="button" onClick={onSort} className="inline-flex min-h-6 items-center gap-1 hover:text-ink">
      {title}
      {sorted === "ascending" && <ArrowUp aria-hidden size={14} />}
      {sorted === "descending" && <ArrowDown aria-hidden size={14} />}
    </button>
  );
}

function Cell<Row>({
  column,
  row,
  hasButtons,
}: {
  readonly column: Column<Row>;
  readonly row: Row;
  /** Whether the row has a column of buttons, next to its name on phones. */
  readonly hasButtons: boolean;
}) {
  const isHeader = column.isHeader === true;
  const className = cx(
    "flex items-baseline justify-between gap-4 px-3 py-1 md:table-cell md:border-b md:border-line md:py-2 md:align-middle",
    "break-words",
    isHeader && "font-medium",
    column.isBlank?.(row) === true && "max-md:hidden",
    column.isTitleHidden === true
      ? "col-start-2 row-start-1 justify-end"
      : isHeader
        ? cx("row-start-1", !hasButtons && "col-span-2")
        : "col-span-2",
    alignment(column),
  );
  const content = (
    <>
      {!isHeader && column.isTitleHidden !== true && (
        <span aria-hidden className="shrink-0 text-muted md:hidden">
          {column.title}
        </span>
      )}
      {/* A single child, so that a value of several parts stays together next to its title. */}
      <div className="min-w-0">{column.cell(row)}</div>
    </>
  );
  return isHeader ? (
    <th role="rowheader" scope="row" className={className}>
      {content}
    </th>
  ) : (
    <td role="cell" className={className}>
      {content}
    </td>
  );
}

function alignment<Row>({ align }: Column<Row>): string {
  return align === "end" ? "text-end" : "text-start";
}
