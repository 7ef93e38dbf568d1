/** Requests for the imports of the own account. */
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { ResponseData } from "../../../api/generated.ts";
import { request } from "../../../api/http.ts";
import { byPage, invalidateTree, LIVE_INTERVAL_MS } from "../../../api/queries.ts";
import { type ImportRun, isActive } from "../../../entries/imports/states.ts";
import { showError } from "../../../ui/toast.tsx";

/** What an import did not import. */
export type ImportProblem = ResponseData["GET /api/imports/{id}/problems"]["problems"][number];

/** The body of POST /api/imports. */
export interface NewImport {
  readonly kind: ImportRun["kind"];
  readonly folder: string;
  readonly restoreDeleted: boolean;
  readonly fileIds?: readonly string[];
  readonly url?: string;
  readonly username?: string;
  readonly secret?: string;
}

const RUNS_KEY = ["imports", "runs"];
const FIRST_POLL_MS = 1_000;
const LAST_POLL_MS = 10_000;

/** How soon to ask for the progress again: soon at first, later at longer intervals. An import can take days. */
function pollMs(responses: number): number {
  return Math.min(LAST_POLL_MS, FIRST_POLL_MS * 1.1 ** responses);
}

/** The imports of the account, newest first, with their progress while the page is visible. */
export function useImports() {
  const client = useQueryClient();
  /** The active import, and the number of responses before it was active. */
  const polled = useRef({ id: "", from: 0 });
  const query = useInfiniteQuery({
    queryKey: RUNS_KEY,
    queryFn: ({ pageParam, signal }) =>
      request<ResponseData["GET /api/imports"]>("GET", "/api/imports", {
        query: { page: pageParam, limit: 20 },
        signal,
      }),
    ...byPage,
    refetchOnWindowFocus: "always",
    refetchInterval: ({ state: { data, dataUpdateCount } }) => {
      const active = data?.pages.flatMap(({ imports }) => imports).find(isActive);
      if (active === undefined) return LIVE_INTERVAL_MS;
      const id = `${active.id} ${active.state}`;
      if (polled.current.id !== id) polled.current = { id, from: dataUpdateCount };
      return pollMs(dataUpdateCount - polled.current.from);
    },
  });
  const runs = query.data?.pages.flatMap(({ imports }) => imports);
  const isRunning = runs?.some(isActive) ?? false;
  const wasRunning = useRef(false);
  useEffect(() => {
    // Lists and photos show what was imported.
    if (wasRunning.current && !isRunning) void invalidateTree(client);
    wasRunning.current = isRunning;
  }, [client, isRunning]);
  return { query, runs, isRunning };
}

/** Changes an import. Errors are shown at the edge of the page. */
export function useChangeImport(
  { id }: Pick<ImportRun, "id">,
  change: "pause" | "resume" | "cancel",
  onDone?: () => void,
) {
  const refresh = useRefreshImports();
  return useMutation({
    mutationFn: () => request<ImportRun>("POST", `/api/imports/${id}/${change}`, { body: {} }),
    onError: showError,
    onSuccess: () => onDone?.(),
    onSettled: refresh,
  });
}

/** Returns a function that loads the imports again. */
export function useRefreshImports(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: RUNS_KEY });
}

/** One page of what an import did not import. */
export function readProblems(
  id: string,
  page: number,
  limit: number,
  signal?: AbortSignal,
): Promise<ResponseData["GET /api/imports/{id}/problems"]> {
  return request("GET", `/api/imports/${id}/problems`, {
    query: { page, limit },
    ...(signal !== undefined && { signal }),
  });
}
