/** The files that the preview goes through: those of a list, without its folders. */
import type { QueryKey } from "@tanstack/react-query";
import { ApiError, request } from "../api/http.ts";
import { keys } from "../api/queries.ts";
import type { Entry, FileRecord, Listing } from "../api/types.ts";
import { PAGE_SIZE } from "./collection/page-window.ts";
import type { PageSource } from "./collection/read-pages.ts";

/** A file, and where the preview opens it. */
export interface PreviewedFile extends FileRecord {
  /** The page of a PDF that is shown first, from 1; by default the first one. */
  readonly startPage?: number;
}

/** One page of the files of a list. */
export interface FilePage {
  readonly files: readonly PreviewedFile[];
  /** The position of its first file among all files; undefined if unknown. */
  readonly first: number | undefined;
  /** The number of files in the list; undefined if unknown. */
  readonly total: number | undefined;
  readonly hasNext: boolean;
}

/** The files of a list, page by page, in the order of the list. */
export interface PreviewSource {
  /** Below `keys.files`, so that a change to files refreshes the pages. The key of a page has its number appended. */
  readonly key: QueryKey;
  /** Whether the list has all folders before its files. */
  readonly isAfterFolders?: boolean;
  /** The page that has a position; by default, all pages have {@link PAGE_SIZE} files. */
  pageAt?(position: number): number;
  /** @throws ApiError, OfflineError */
  fetchPage(page: number, signal: AbortSignal | undefined): Promise<FilePage>;
  /**
   * The page that has a file; undefined if the list does not have it.
   * @throws ApiError, OfflineError
   */
  findPage(id: string, signal: AbortSignal | undefined): Promise<number | undefined>;
}

/** How many pages are searched for a file if the server can't find it. */
const SEARCHED_PAGES_MAX = 10;

/** The page of a list that has only files, of `total` in all. */
export function filePage(files: readonly PreviewedFile[], page: number, total: number): FilePage {
  return { files, first: (page - 1) * PAGE_SIZE, total, hasNext: page * PAGE_SIZE < total };
}

/** Searches the first pages of a list for a file. */
export async function searchPages(
  fetchPage: PreviewSource["fetchPage"],
  id: string,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  for (let page = 1; page <= SEARCHED_PAGES_MAX; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a file on an early page needs no request for the later ones
    const { files, hasNext } = await fetchPage(page, signal);
    if (files.some((file) => file.id === id)) return page;
    if (!hasNext) return undefined;
  }
  return undefined;
}

/** How a folder is listed. */
interface FolderOrder {
  readonly folder: string;
  readonly sort: string;
  readonly order: string;
  /** Of a folder that others share with the account. */
  readonly share?: string;
}

/** The files of a folder. The server finds the page of a file, so a link opens one of any page. */
export function folderFiles(listed: FolderOrder): PreviewSource {
  const read = (position: { page: number } | { around: string }, signal: AbortSignal | undefined) =>
    request<Listing>("GET", "/api/files", {
      query: { ...listed, ...position, type: "file", limit: PAGE_SIZE },
      ...(signal !== undefined && { signal }),
    });
  return {
    key: keys.listing(listed.folder, "files only", listed),
    isAfterFolders: true,
    fetchPage: async (page, signal) => {
      const { files, pagination } = await read({ page }, signal);
      return filePage(files.filter(isFile), page, pagination.total);
    },
    findPage: async (id, signal) => {
      try {
        return (await read({ around: id }, signal)).pagination.page;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
  };
}

/** The files of a list with files and folders in any order. They can be counted only if the list is one page. */
export function filesOfList(source: Pick<PageSource<Entry>, "key" | "fetchPage">): PreviewSource {
  const fetchPage: PreviewSource["fetchPage"] = async (page, signal) => {
    const { entries, total } = await source.fetchPage(page, signal);
    const files = entries.filter(isFile);
    const isWhole = total <= PAGE_SIZE;
    return {
      files,
      first: isWhole ? 0 : undefined,
      total: isWhole ? files.length : undefined,
      hasNext: page * PAGE_SIZE < total,
    };
  };
  return {
    key: [...source.key, "files only"],
    fetchPage,
    findPage: (id, signal) => searchPages(fetchPage, id, signal),
  };
}

/** Whether an entry is a file. */
export function isFile<T extends Entry>(entry: T): entry is T & FileRecord {
  return entry.type === "file";
}
