/**
 * Figures of a process tree from /proc, and the arithmetic of samples.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** Unit of utime and stime: USER_HZ, which Linux fixes at 100 for user space. */
const TICKS_PER_SECOND = 100;
const MIB = 1 << 20;

/** The middle sample, or the mean of the two in the middle; NaN without samples. */
export function median(samples: number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The smallest sample that is not below `share` of them (nearest rank); `sorted` ascends. 0 without samples. */
export function percentile(sorted: number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

function statFields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The command's name stands in brackets and may hold spaces: fields are counted from the last bracket on.
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** A process and all its descendants. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    const parent = parentOf(pid);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree: number[] = [];
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    tree.push(pid);
    open.push(...(children.get(pid) ?? []));
  }
  return tree;
}

function parentOf(pid: number): number | undefined {
  return unlessGone(() => Number(statFields(pid)[1]));
}

/** A process may end between the listing and the reading; then it counts no longer. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH"))
      return undefined;
    throw error;
  }
}

/** CPU seconds (user and system) spent so far by a process, its living descendants and those that it has reaped. */
export function cpuSeconds(root: number): number {
  let ticks = 0;
  for (const pid of processTree(root)) {
    const fields = unlessGone(() => statFields(pid));
    // utime, stime, cutime, cstime: fields 14 to 17 of proc_pid_stat(5), of which the first two are cut off here.
    if (fields !== undefined) for (const field of fields.slice(11, 15)) ticks += Number(field);
  }
  return ticks / TICKS_PER_SECOND;
}

function statusMib(root: number, key: "VmRSS" | "VmHWM"): number {
  let kib = 0;
  for (const pid of processTree(root)) {
    const status = unlessGone(() => readFileSync(`/proc/${pid}/status`, "latin1"));
    kib += Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(status ?? "")?.[1] ?? 0);
  }
  return (kib * 1024) / MIB;
}

/** Resident memory of a process tree now, in MiB. */
export function residentMib(root: number): number {
  return statusMib(root, "VmRSS");
}

/** Peak resident memory of a process tree since the last reset, in MiB: the sum of each process' own peak. */
export function peakResidentMib(root: number): number {
  return statusMib(root, "VmHWM");
}

/** Lets the peaks start again from what is resident now. */
export function resetPeakResident(root: number): void {
  for (const pid of processTree(root)) unlessGone(() => writeFileSync(`/proc/${pid}/clear_refs`, "5"));
}
