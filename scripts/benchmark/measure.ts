/**
 * CPU time and memory of a process tree from /proc, and statistics of samples.
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

/** The percentile of samples by nearest rank; `share` is from 0 to 1, and `sorted` is ascending. 0 without samples. */
export function percentile(sorted: number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

function statFields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The command's name is in parentheses and can contain spaces, so fields are counted from the last parenthesis.
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

/** Reads from /proc; undefined if the process has ended in the meantime. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH"))
      return undefined;
    throw error;
  }
}

/** CPU seconds (user and system) of a process, its running descendants, and the children that it waited for. */
export function cpuSeconds(root: number): number {
  let ticks = 0;
  for (const pid of processTree(root)) {
    const fields = unlessGone(() => statFields(pid));
    // utime, stime, cutime, cstime: fields 14 to 17 in proc_pid_stat(5); statFields begins with the third one.
    if (fields !== undefined) for (const field of fields.slice(11, 15)) ticks += Number(field);
  }
  return ticks / TICKS_PER_SECOND;
}

/** CPU seconds (user and system) of the main thread of a process. */
export function mainThreadSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/task/${pid}/stat`, "latin1");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function statusMib(root: number, key: "VmRSS" | "VmHWM" | "RssAnon"): number {
  let kib = 0;
  for (const pid of processTree(root)) {
    const status = unlessGone(() => readFileSync(`/proc/${pid}/status`, "latin1"));
    kib += Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(status ?? "")?.[1] ?? 0);
  }
  return (kib * 1024) / MIB;
}

/** The current resident memory of a process tree in MiB. */
export function residentMib(root: number): number {
  return statusMib(root, "VmRSS");
}

/** The current anonymous memory of a process tree in MiB: without pages of files, which the system can drop. */
export function anonymousMib(root: number): number {
  return statusMib(root, "RssAnon");
}

/** The peak resident memory of a process tree since the last reset in MiB: the sum of each process's peak. */
export function peakResidentMib(root: number): number {
  return statusMib(root, "VmHWM");
}

/** Resets the peaks to the current resident memory. */
export function resetPeakResident(root: number): void {
  for (const pid of processTree(root)) unlessGone(() => writeFileSync(`/proc/${pid}/clear_refs`, "5"));
}
