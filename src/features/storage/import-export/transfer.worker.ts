/** A thread that copies files into the store or out of it, or syncs them. */
import * as fs from "node:fs";
import { Layout } from "../../../blobs/layout.ts";
import { loadSyncfs, syncsWhole } from "../../../blobs/syncfs.ts";
import { ContentImporter } from "./content-importer.ts";
import { ContentWriter } from "./content-writer.ts";
import type { ImportJob, ImportResult, WriteJob, WriteResult } from "./types.ts";
import { errorCode, messageOf } from "../../../lib/error.ts";

/** A request to the thread; `open` is sent once, before all others. */
export type TransferRequest =
  | { readonly kind: "open"; readonly dataDir: string; readonly target: string; readonly label: string }
  | { readonly kind: "import"; readonly jobs: readonly ImportJob[] }
  | { readonly kind: "export"; readonly jobs: readonly WriteJob[] }
  /** Syncs the whole file system of the target. */
  | { readonly kind: "sync" };

/** One reply to each request, in their order. */
export type TransferReply =
  | { readonly kind: "done" }
  | { readonly kind: "imported"; readonly results: readonly ImportResult[] }
  | { readonly kind: "exported"; readonly results: readonly WriteResult[] }
  | { readonly kind: "failed"; readonly code: string | undefined; readonly message: string };

declare const self: Worker;

const syncfs = loadSyncfs();
let contentImporter: ContentImporter | undefined;
let writer: ContentWriter | undefined;
/** The folder whose file system is synced as a whole; undefined if each file is synced on its own. */
let syncedFolder: string | undefined;

async function handle(request: TransferRequest): Promise<TransferReply> {
  if (request.kind === "open") {
    const layout = new Layout(request.dataDir);
    syncedFolder = syncfs !== undefined && syncsWhole(request.target) ? request.target : undefined;
    const isSyncingEach = syncedFolder === undefined;
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
  if (request.kind === "export") return { kind: "exported", results: request.jobs.map((job) => exporter.write(job)) };
  const results: ImportResult[] = [];
  for (const job of request.jobs) results.push(await reader.importFile(job));
  return { kind: "imported", results };
}

function syncAll(): void {
  if (syncfs === undefined || syncedFolder === undefined) return;
  const fd = fs.openSync(syncedFolder, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    if (syncfs(fd) !== 0) throw Object.assign(new Error("syncfs failed"), { code: "EIO" });
  } finally {
    fs.closeSync(fd);
  }
}

async function reply(request: TransferRequest): Promise<void> {
  try {
    self.postMessage(await handle(request));
  } catch (error) {
    const message = messageOf(error);
    self.postMessage({ kind: "failed", code: errorCode(error), message } satisfies TransferReply);
  }
}

let last = Promise.resolve();
self.onmessage = (event: MessageEvent<TransferRequest>) => {
  last = last.then(() => reply(event.data));
};
