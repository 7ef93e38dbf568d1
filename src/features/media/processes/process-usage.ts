import { readFileSync } from "node:fs";

/** Errors after which nothing is known: the process ended, there is no /proc, or the server has no free file descriptor. */
const UNKNOWN = new Set<unknown>(["ENOENT", "ESRCH", "EMFILE", "ENFILE"]);
/** The kernel reports processor time to programs in hundredths of a second, on every architecture that Bun supports. */
const TICK_MS = 10;
/** Positions of `utime` and `stime` after the name of the program (proc_pid_stat(5)). */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** Resident memory of a process in bytes; undefined if it can't be found now. Takes about 20 µs. */
export function findResidentBytes(pid: number): number | undefined {
  const kibibytes = /^VmRSS:\s*(\d+) kB$/m.exec(readProc(pid, "status") ?? "")?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

/** The processor time that a process has used since its start; undefined if it can't be found now. */
export function findProcessorMs(pid: number): number | undefined {
  const stat = readProc(pid, "stat");
  if (stat === undefined) return undefined;
  // The name is in parentheses, and may contain any character.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS;
}

function readProc(pid: number, file: "status" | "stat"): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && UNKNOWN.has(error.code)) return undefined;
    throw error;
  }
}
