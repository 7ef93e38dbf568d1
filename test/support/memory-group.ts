// Limits the memory of a server under test by a kernel control group.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A control group. */
export interface MemoryGroup {
  /** Put before a command, runs it in the group. */
  readonly prefix: string[];
  /** Sets another limit. The kernel reclaims memory above it, or kills a process. */
  limit(bytes: number): void;
  /** How many processes of the group the kernel killed because it was out of memory. */
  kills(): number;
  /** Removes the group. No process may still run in it. */
  remove(): void;
}

/** Creates a group with a limit in bytes, page cache included; undefined if this machine does not allow it. */
export function makeMemoryGroup(bytes: number): MemoryGroup | undefined {
  const root = "/sys/fs/cgroup";
  const isUnified = existsSync(join(root, "cgroup.controllers"));
  const folder = join(root, isUnified ? "" : "memory", `larder-test-${process.pid}-${bytes}`);
  const limitFile = join(folder, isUnified ? "memory.max" : "memory.limit_in_bytes");
  try {
    mkdirSync(folder);
    writeFileSync(limitFile, String(bytes));
  } catch {
    return undefined; // not permitted: no root, or a container without control groups
  }
  const events = join(folder, isUnified ? "memory.events" : "memory.oom_control");
  return {
    prefix: ["sh", "-c", `echo $$ > ${join(folder, "cgroup.procs")} && exec "$@"`, "sh"],
    limit: (limitBytes) => writeFileSync(limitFile, String(limitBytes)),
    kills: () => Number(/^oom_kill (\d+)$/m.exec(readFileSync(events, "utf8"))?.[1] ?? 0),
    remove: () => rmdirSync(folder),
  };
}
