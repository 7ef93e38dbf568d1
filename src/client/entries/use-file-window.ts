import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { live } from "../api/queries.ts";
import type { FileRecord } from "../api/types.ts";
import { pageOf } from "./collection/page-window.ts";
import type { FilePage, PreviewedFile, PreviewSource } from "./preview-source.ts";

/** Files of a list around one of them. */
export interface FileWindow {
  /** Files without gaps, in the order of the list. */
  readonly items: readonly PreviewedFile[];
  /** Where the file is among them; -1 if it is not (yet). */
  readonly index: number;
  readonly position: number | undefined;
  readonly total: number | undefined;
  /** The list was read, and does not have the file. */
  readonly isMissing: boolean;
  /**
   * Loads the file at a position, to show it.
   * @param isCurrent whether it may still be shown
   * @throws ApiError, OfflineError
   */
  load(position: number, isCurrent: () => boolean): Promise<FileRecord | undefined>;
}

/** How near to the end of the known files the next page is loaded. */
const NEAR = 3;

/**
 * The files of a list around one of them, kept up to date. Only the pages near it are loaded.
 * @param id undefined while nothing is shown
 */
export function useFileWindow(source: PreviewSource, id: string | undefined): FileWindow {
  const queryClient = useQueryClient();
  const [currentPage, setCurrentPage] = useState<number>();
  const isSearching = id !== undefined && currentPage === undefined;
  const found = useQuery({
    queryKey: [...source.key, "page of", id],
    // A query can't have the result undefined.
    queryFn: async ({ signal }) => (await source.findPage(id ?? "", signal)) ?? null,
    enabled: isSearching,
  });
  const page = currentPage ?? found.data ?? undefined;
  const middle = useFilePage(source, id === undefined ? undefined : page);
  const inMiddle = indexOf(middle, id);
  const count = middle?.files.length ?? 0;
  const wantsBefore = page !== undefined && page > 1 && inMiddle < NEAR;
  const wantsAfter = middle?.hasNext === true && (inMiddle < 0 || inMiddle >= count - NEAR);
  const before = useFilePage(source, wantsBefore && id !== undefined ? page - 1 : undefined);
  const after = useFilePage(source, wantsAfter && page !== undefined ? page + 1 : undefined);

  const pageOfFile =
    page === undefined || inMiddle >= 0
      ? page
      : indexOf(before, id) >= 0
        ? page - 1
        : indexOf(after, id) >= 0
          ? page + 1
          : undefined;
  useEffect(() => {
    if (id === undefined) setCurrentPage(undefined);
    else if (middle !== undefined) setCurrentPage(pageOfFile);
  }, [id, middle, pageOfFile]);

  const items = [...(before?.files ?? []), ...(middle?.files ?? []), ...(after?.files ?? [])];
  const index = items.findIndex((file) => file.id === id);
  const first = before === undefined ? middle?.first : before.first;
  const load = async (position: number, isCurrent: () => boolean) => {
    const number = source.pageAt?.(position) ?? pageOf(position);
    const { files, first: start } = await queryClient.fetchQuery(pageQuery(source, number));
    if (!isCurrent()) return undefined;
    setCurrentPage(number);
    return start === undefined ? undefined : files[position - start];
  };
  return {
    items,
    index,
    position: first === undefined || index < 0 ? undefined : first + index,
    total: middle?.total,
    isMissing: isSearching && index < 0 && (found.data === null || found.isError || middle !== undefined),
    load,
  };
}

function useFilePage(source: PreviewSource, page: number | undefined): FilePage | undefined {
  const { data } = useQuery({ ...pageQuery(source, page ?? 1), enabled: page !== undefined });
  return page === undefined ? undefined : data;
}

function pageQuery(source: PreviewSource, page: number) {
  return {
    queryKey: [...source.key, page],
    queryFn: ({ signal }: { signal: AbortSignal }) => source.fetchPage(page, signal),
    ...live,
  };
}

function indexOf(page: FilePage | undefined, id: string | undefined): number {
  return page?.files.findIndex((file) => file.id === id) ?? -1;
}
