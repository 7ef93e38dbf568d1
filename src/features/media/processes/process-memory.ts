import { readFileSync } from "node:fs";

/** Errors after which nothing is known: the process ended, there is no /proc, or the server has no free file descriptor. */
const UNKNOWN = new Set<unknown>(["ENOENT", "ESRCH", "EMFILE", "ENFILE"]);

/** Resident memory of a process in bytes; undefined if it can't be found now. Takes about 20 µs. */
export function findResidentBytes(pid: number): number | undefined {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && UNKNOWN.has(error.code)) return undefined;
    throw error;
  }
  const kibibytes = /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
