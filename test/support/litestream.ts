// Litestream as a server runs it, seen from outside.
import { Database } from "bun:sqlite";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { litestreamPath } from "./replicated.ts";
import type { TestS3 } from "./s3-server.ts";
import { cleanEnv, type TestServer } from "./server.ts";

/** The configuration file of a server's Litestream. */
export function litestreamConfiguration({ dataDir }: Pick<TestServer, "dataDir">): string {
  return join(dataDir, "litestream.yml");
}

/** The process of a server's Litestream, if it runs. */
export function findLitestream(server: Pick<TestServer, "dataDir">): number | undefined {
  const path = litestreamConfiguration(server);
  return readdirSync("/proc")
    .map(Number)
    .find((pid) => pid > 0 && readFileOf(pid, "cmdline").split("\0").includes(path));
}

/** A file of a process; empty if the process has ended. */
export function readFileOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

/** The generation of the database that Litestream continues. */
export function readGeneration({ dataDir }: Pick<TestServer, "dataDir">): string {
  return readFileSync(join(dataDir, ".larder.db-litestream/generation"), "utf8").trim();
}

/** Waits until something is the case. */
export async function until<T>(find: () => T | Promise<T>, what: string, timeoutMs = 60_000): Promise<NonNullable<T>> {
  for (const endMs = performance.now() + timeoutMs; performance.now() < endMs; await Bun.sleep(20)) {
    const found = await find();
    if (found !== undefined && found !== null && found !== false) return found;
  }
  throw new Error(`In ${timeoutMs} ms, this did not happen: ${what}`);
}

/**
 * Restores the database from the bucket, as another machine would.
 * @param folder is created
 */
export async function restoreReplica(
  s3: TestS3,
  server: Pick<TestServer, "dataDir">,
  folder: string,
): Promise<Database> {
  const configuration = JSON.parse(readFileSync(litestreamConfiguration(server), "utf8"));
  await s3.copyTo(configuration.dbs[0].replicas[0].path, folder);
  const generation = readFileSync(join(folder, "generation"), "utf8").trim();
  const target = join(folder, "restored.db");
  const restoring = join(folder, "restore.yml");
  writeFileSync(restoring, JSON.stringify({ dbs: [{ path: target, replicas: [{ type: "file", path: folder }] }] }));
  const child = Bun.spawn([litestreamPath, "restore", "-config", restoring, "-generation", generation, target], {
    env: cleanEnv(),
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error(`litestream restore failed:\n${output}${await child.stderr.text()}`);
  return new Database(target);
}
