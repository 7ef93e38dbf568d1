import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Pagination } from "../../api/types.ts";
import { useSetTextSearch, useTextSearch } from "../../base/search-params.ts";
import { DataTable, type DataTableProps } from "../../ui/data-table.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Pager } from "./pager.tsx";

/** The page number in the address (`?page=`), and a function to go to another page. */
export function usePage(): [number, (page: number) => void] {
  const setSearch = useSetTextSearch();
  const page = Number(useTextSearch()["page"] ?? 1) || 1;
  return [page, (to) => setSearch({ page: String(to) }, { push: true })];
}

/**
 * One page of a list as a table, with buttons for the other pages.
 * @param rowsOf the rows in the response
 * @param empty shown in place of the table if the list has no rows
 * @param above shown above the table
 */
export function PagedTable<Data extends { readonly pagination: Pagination }, Row extends { readonly id: string }>({
  query,
  rowsOf,
  empty,
  above,
  onPage,
  ...table
}: Omit<DataTableProps<Row>, "rows" | "rowKey"> & {
  readonly query: UseQueryResult<Data>;
  readonly rowsOf: (data: Data) => readonly Row[];
  readonly empty: ReactNode;
  readonly above?: ReactNode;
  readonly onPage: (page: number) => void;
}) {
  return (
    <Loaded query={query}>
      {(data) =>
        rowsOf(data).length === 0 ? (
          empty
        ) : (
          <>
            {above}
            <DataTable {...table} rows={rowsOf(data)} rowKey={({ id }) => id} />
            <Pager pagination={data.pagination} onPage={onPage} />
          </>
        )
      }
    </Loaded>
  );
}
