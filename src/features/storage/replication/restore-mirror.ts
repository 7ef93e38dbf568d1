/** Restores a database from the copy of a replica's path on this disk, by Litestream. */
import * as fs from "node:fs";
import { join } from "node:path";
import type { ReplicaMirror } from "./mirror.ts";

/** Dependencies of {@link restoreMirror}. */
interface RestoreMirrorOptions {
  readonly mirror: Pick<ReplicaMirror, "folder" | "generation">;
  /** The program. */
  readonly litestream: string;
  /** The folder of the database, which must be on this disk; it gets `larder.db`. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
}

/** How many write-ahead logs are decompressed at a time. */
const PARALLEL_LOGS = 2;
const MESSAGE_MAX = 500;

/** Litestream could not restore from the copy: it is incomplete, or damaged on this disk. */
export class RestoreError extends Error {
  override readonly name = "RestoreError";
}

/**
 * Restores the newest state. The database is complete, but not checked for damage.
 * @returns the path of the database @throws RestoreError
 */
export async function restoreMirror(options: RestoreMirrorOptions): Promise<string> {
  const { mirror, litestream, folder, signal } = options;
  if (mirror.generation === undefined) throw new RestoreError("There is nothing to restore.");
  const database = join(folder, "larder.db");
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const config = join(folder, "litestream.yml");
  // JSON is YAML too. A path in a URL would be escaped, and then not be found.
  const replica = { type: "file", path: mirror.folder };
  fs.writeFileSync(config, JSON.stringify({ dbs: [{ path: database, replicas: [replica] }] }), { mode: 0o600 });
  const { id } = mirror.generation;
  const flags = ["-config", config, "-no-expand-env", "-generation", id, "-parallelism", String(PARALLEL_LOGS)];
  const child = Bun.spawn([litestream, "restore", ...flags, database], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: {},
    ...(signal !== undefined && { signal }),
  });
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  signal?.throwIfAborted();
  if (code !== 0 || !fs.existsSync(database)) {
    const message = `${output}${errors}`.trim().slice(-MESSAGE_MAX);
    throw new RestoreError(`litestream restore failed (exit code ${code}): ${message}`);
  }
  fs.rmSync(config);
  return database;
}
