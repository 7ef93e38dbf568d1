/** A thread that carries contents into the store or out of it, or makes durable what was carried. */
import * as fs from "node:fs";
import { errorCode } from "../../../blobs/disk.ts";
import { Layout } from "../../../blobs/layout.ts";
import { loadSyncfs, syncsWhole } from "../../../blobs/syncfs.ts";
import { ContentImporter } from "./content-importer.ts";
import { ContentWriter } from "./content-writer.ts";
import type { TakeJob, TakeResult, WriteJob, WriteResult } from "./types.ts";

/** What the thread is asked for; `open` comes once, before all others. */
export type TransferRequest =
  | { readonly kind: "open"; readonly dataDir: string; readonly target: string; readonly label: string }
  | { readonly kind: "take"; readonly jobs: readonly TakeJob[] }
  | { readonly kind: "write"; readonly jobs: readonly WriteJob[] }
  /** Everything on the file system of the target. */
  | { readonly kind: "sync" };

/** One answer to each request, in their order. */
export type TransferReply =
  | { readonly kind: "done" }
  | { readonly kind: "taken"; readonly results: readonly TakeResult[] }
  | { readonly kind: "written"; readonly results: readonly WriteResult[] }
  | { readonly kind: "failed"; readonly code: string | undefined; readonly message: string };

declare const self: Worker;

const syncfs = loadSyncfs();
let contentImporter: ContentImporter | undefined;
let writer: ContentWriter | undefined;
/** What to sync all at once; undefined where each content is synced as it comes. */
let together: string | undefined;

async function answer(request: TransferRequest): Promise<TransferReply> {
  if (request.kind === "open") {
    const layout = new Layout(request.dataDir);
    together = syncfs !== undefined && syncsWhole(request.target) ? request.target : undefined;
    const isSyncingEach = together === undefined;
    contentImporter = new ContentImporter({ layout, label: request.label, isSyncingEach });
    writer = new ContentWriter({ label: request.label, isSyncingEach });
    return { kind: "done" };
  }
  if (request.kind === "sync") {
    syncAll();
    return { kind: "done" };
  }
  const [reader, exporter] = [contentImporter, writer];
  if (reader === undefined || exporter === undefined) throw new Error("The thread was not opened.");
  if (request.kind === "write") return { kind: "written", results: request.jobs.map((job) => exporter.write(job)) };
  const results: TakeResult[] = [];
  for (const job of request.jobs) results.push(await reader.take(job));
  return { kind: "taken", results };
}

function syncAll(): void {
  if (syncfs === undefined || together === undefined) return;
  const fd = fs.openSync(together, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    if (syncfs(fd) !== 0) throw Object.assign(new Error("syncfs failed"), { code: "EIO" });
  } finally {
    fs.closeSync(fd);
  }
}

async function reply(request: TransferRequest): Promise<void> {
  try {
    self.postMessage(await answer(request));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    self.postMessage({ kind: "failed", code: errorCode(error), message } satisfies TransferReply);
  }
}

let last = Promise.resolve();
self.onmessage = (event: MessageEvent<TransferRequest>) => {
  last = last.then(() => reply(event.data));
};
