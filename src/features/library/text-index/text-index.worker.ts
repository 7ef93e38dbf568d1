/** The thread of the text index. It alone opens the index, so no other connection can see half of a change. */
import { SQLiteError } from "bun:sqlite";
import { digestFromBytes } from "../../../blobs/digest.ts";
import { Layout } from "../../../blobs/layout.ts";
import { TextFinder } from "./find.ts";
import { Follower, STEP_MS } from "./follower.ts";
import { IndexTables, LostTextError } from "./index-tables.ts";
import { LiveFiles } from "./live-files.ts";
import { joinParts } from "./segments.ts";
import type { IndexCalls, IndexLocation, IndexReply, IndexRequest } from "./types.ts";

declare const self: Worker;

let calls: IndexCalls | undefined;

self.onmessage = (event: MessageEvent<IndexRequest>) => {
  const { id, location } = event.data;
  try {
    calls ??= open(location);
    self.postMessage({ id, result: run(calls, event.data) } satisfies IndexReply);
  } catch (error) {
    const code = error instanceof SQLiteError ? (error.code ?? "") : "";
    const isDamaged = code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" || error instanceof LostTextError;
    self.postMessage({ id, error: String(error), isDamaged } satisfies IndexReply);
  }
};

function run(opened: IndexCalls, { name, parameters }: IndexRequest): unknown {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a request has the parameters of its name
  const call = opened[name] as (...values: readonly unknown[]) => unknown;
  return call(...parameters);
}

function open({ path, databasePath, source, blobsDir, run: name }: IndexLocation): IndexCalls {
  const live = new LiveFiles(databasePath);
  const layout = blobsDir === undefined ? undefined : new Layout(blobsDir);
  const tables = new IndexTables(path, source, (digest) => layout?.blob(digestFromBytes(digest)));
  const follower = new Follower(tables, live, name);
  const finder = new TextFinder(tables, live);
  const change = <T>(body: () => T): T => tables.transaction(body);
  return {
    follow: () => {
      const isMore = follower.step();
      return { isMore, hasTraces: tables.hasTraces, unread: isMore ? [] : follower.unread() };
    },
    clean: () => ({ isMore: tables.cleanSome(performance.now() + STEP_MS) }),
    next: () => tables.progress.next(),
    begin: (blob, readMs) =>
      change(() => {
        if (follower.isLive(blob)) return tables.begin(blob, readMs) ? "begun" : "unread";
        tables.progress.dequeue(blob.blobId);
        return "unused";
      }),
    add: (blobId, segments) => {
      change(() => tables.add(blobId, segments));
      tables.dropSome(performance.now() + STEP_MS);
    },
    finish: (blob) =>
      change(() => {
        // It may have been deleted while its text was read.
        if (follower.isLive(blob)) tables.finish(blob.blobId);
        else tables.markRemoved(blob.blobId);
      }),
    skip: (blob, reason) => change(() => tables.skip(blob, reason)),
    postpone: (blobId) => tables.postpone(blobId),
    find: (query) => finder.find(query),
    snippets: (query) => finder.snippets(query),
    restore: (digest, parts) => tables.restore(digest, joinParts(parts)),
    complete: (query) => finder.complete(query),
    status: () => ({ isFilling: follower.isFilling, ...tables.status() }),
  };
}
