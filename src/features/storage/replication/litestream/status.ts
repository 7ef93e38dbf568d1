/** What a running server says about its replica, for commands beside it. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The state of the replica at a time. */
export interface ReplicaStatus {
  readonly atMs: number;
  /** `generation/index:frame`; null if that is not known yet. */
  readonly position: string | null;
  readonly lagMs: number;
  readonly problem: string | null;
}

/** A status that is older than this says nothing. */
const AGE_MS_MAX = 20_000;

/** Writes the status into the data directory. It need not survive a crash. */
export function writeReplicaStatus(root: string, status: ReplicaStatus): void {
  const path = statusPath(root);
  writeFileSync(`${path}.tmp`, `${JSON.stringify(status)}\n`, { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

/** Reads the status of the server that runs on a data directory; undefined if none has written one lately. */
export function readReplicaStatus(root: string, nowMs: number): ReplicaStatus | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(statusPath(root), "utf8"));
    if (typeof value !== "object" || value === null) return undefined;
    const { atMs, position, lagMs, problem } = Object.fromEntries(Object.entries(value));
    if (typeof atMs !== "number" || typeof lagMs !== "number" || Math.abs(nowMs - atMs) > AGE_MS_MAX) return undefined;
    return { atMs, position: textOrNull(position), lagMs, problem: textOrNull(problem) };
  } catch {
    return undefined; // There is none, or it is incomplete.
  }
}

function statusPath(root: string): string {
  return join(root, "litestream.json");
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
