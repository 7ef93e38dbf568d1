/** The rows of the folder tree. Each level is loaded page by page when it is opened. */
import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/http.ts";
import { keys, LIVE_INTERVAL_MS } from "../../api/queries.ts";
import type { FolderRecord, Pagination } from "../../api/types.ts";
import { text } from "../text.ts";

/** A row of the tree: a folder, or what is shown in place of folders that are not loaded. */
export type TreeRow =
  | {
      readonly kind: "folder";
      readonly path: string;
      readonly name: string;
      readonly level: number;
      readonly isOpen: boolean;
      /** From 1, among the folders of its level. */
      readonly position: number;
      readonly siblings: number;
    }
  | { readonly kind: "loading" | "empty"; readonly path: string; readonly level: number }
  | { readonly kind: "more"; readonly path: string; readonly level: number; readonly shown: number }
  | { readonly kind: "failed"; readonly path: string; readonly level: number; readonly error: unknown };

/** The top of a tree. */
export interface TreeRoot {
  /** The received share that all paths are below; undefined for own folders. */
  readonly share: string | undefined;
  readonly name: string;
}

interface LevelPage {
  readonly files: readonly FolderRecord[];
  readonly pagination: Pagination;
}

/** Folders per request; the most that the API returns. */
const PAGE_SIZE = 100;

/** A page of the folders in a folder. */
function levelQuery(path: string, page: number, share: string | undefined) {
  return {
    queryKey: levelKey(path, share, page),
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      request<LevelPage>("GET", "/api/files", {
        query: { folder: path, share, type: "folder", sort: "natural", limit: PAGE_SIZE, page },
        signal,
      }),
    refetchInterval: LIVE_INTERVAL_MS,
    refetchOnWindowFocus: "always" as const,
  };
}

function levelKey(path: string, share: string | undefined, ...page: readonly number[]) {
  return keys.listing(path, "folders", share ?? "own", ...page);
}

const OWN_ROOT: TreeRoot = {
  share: undefined,
  get name() {
    return text.home;
  },
};

/** The visible rows of the tree, and how to load more. */
export function useTreeRows(expanded: ReadonlySet<string>, hasRoot: boolean, { share, name } = OWN_ROOT) {
  const queryClient = useQueryClient();
  const [pages, setPages] = useState<ReadonlyMap<string, number>>(new Map());
  const levels = visibleLevels(expanded, pages, (path, page) =>
    queryClient.getQueryData<LevelPage>(levelQuery(path, page, share).queryKey),
  );
  const results = useQueries({ queries: levels.map(({ path, page }) => levelQuery(path, page, share)) });
  const loaded = Map.groupBy(
    levels.map((level, index) => ({ ...level, data: results[index]?.data, error: results[index]?.error ?? null })),
    ({ path }) => path,
  );
  const below = (path: string, level: number): TreeRow[] => {
    const known = loaded.get(path) ?? [];
    const folders = known.flatMap(({ data }) => data?.files ?? []);
    const failed = known.find(({ data, error }) => data === undefined && error !== null);
    const first = known[0]?.data;
    if (first === undefined) {
      return [
        failed === undefined ? { kind: "loading", path, level } : { kind: "failed", path, level, error: failed.error },
      ];
    }
    if (folders.length === 0) return [{ kind: "empty", path, level }];
    const siblings = first.pagination.total;
    const rows = folders.flatMap((folder, index) => {
      const isOpen = expanded.has(folder.path);
      const row = {
        kind: "folder" as const,
        path: folder.path,
        name: folder.name,
        level,
        isOpen,
        position: index + 1,
        siblings,
      };
      return isOpen ? [row, ...below(folder.path, level + 1)] : [row];
    });
    return folders.length < siblings ? [...rows, { kind: "more", path, level, shown: folders.length }] : rows;
  };
  const root = { kind: "folder" as const, path: "/", name, level: 1, position: 1, siblings: 1 };
  const isRootOpen = expanded.has("/");
  const rows = !hasRoot ? below("/", 1) : [{ ...root, isOpen: isRootOpen }, ...(isRootOpen ? below("/", 2) : [])];
  return {
    rows,
    loadMore: (path: string) => setPages((before) => new Map([...before, [path, (before.get(path) ?? 1) + 1]])),
    retry: (path: string) => void queryClient.refetchQueries({ queryKey: levelKey(path, share) }),
  };
}

/** The pages of all levels that are shown. A folder that was open but is gone, or is in a closed one, has no level. */
function visibleLevels(
  expanded: ReadonlySet<string>,
  pages: ReadonlyMap<string, number>,
  read: (path: string, page: number) => LevelPage | undefined,
) {
  const levels: { readonly path: string; readonly page: number }[] = [];
  const open = expanded.has("/") ? ["/"] : [];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (let page = 1; page <= (pages.get(path) ?? 1); page += 1) {
      levels.push({ path, page });
      const folders = read(path, page)?.files ?? [];
      open.push(...folders.flatMap((folder) => (expanded.has(folder.path) ? [folder.path] : [])));
    }
  }
  return levels;
}

/** A folder and all its parents: `/a/b` → `/`, `/a`, `/a/b`. */
export function pathsAbove(path: string): string[] {
  const names = path.split("/").filter((name) => name !== "");
  return ["/", ...names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`)];
}
