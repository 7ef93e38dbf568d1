// A bound for the memory of a server under test, by a control group of the kernel: what it takes beyond is refused, or ends it.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A control group, and the words that start a program in it. */
export interface MemoryGroup {
  readonly prefix: string[];
  /** Sets another bound. What is held beyond it is given back where it can be; where not, the kernel ends something. */
  limit(bytes: number): void;
  /** How often the kernel ended something in it for want of memory. */
  kills(): number;
  /** Takes it away; nothing may run in it any more. */
  remove(): void;
}

/** A group of so many bytes, page cache included; undefined where this machine doesn't let us make one. */
export function makeMemoryGroup(bytes: number): MemoryGroup | undefined {
  const root = "/sys/fs/cgroup";
  const isUnified = existsSync(join(root, "cgroup.controllers"));
  const folder = join(root, isUnified ? "" : "memory", `larder-test-${process.pid}-${bytes}`);
  const bound = join(folder, isUnified ? "memory.max" : "memory.limit_in_bytes");
  try {
    mkdirSync(folder);
    writeFileSync(bound, String(bytes));
  } catch {
    return undefined; // not ours to make: no root, or a container without
  }
  const events = join(folder, isUnified ? "memory.events" : "memory.oom_control");
  return {
    prefix: ["sh", "-c", `echo $$ > ${join(folder, "cgroup.procs")} && exec "$@"`, "sh"],
    limit: (given) => writeFileSync(bound, String(given)),
    kills: () => Number(/^oom_kill (\d+)$/m.exec(readFileSync(events, "utf8"))?.[1] ?? 0),
    remove: () => rmdirSync(folder),
  };
}
