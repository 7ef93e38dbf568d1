/** The file descriptors of this process: its open files and sockets. Known on Linux only. */
import { readdirSync, readFileSync, statSync } from "node:fs";

const FD_FOLDER = "/proc/self/fd";
/** Descriptors that a thread opens while it starts, with a margin. */
const THREAD_DESCRIPTORS = 16;

/** Cached: Bun raises it as far as allowed before our code runs, and later no descriptor may be left to read it. */
let descriptorLimit: number | undefined;

/** The number of open files and sockets; undefined if unknown. Takes a few microseconds. */
export function countOpenDescriptors(): number | undefined {
  const folder = statSync(FD_FOLDER, { throwIfNoEntry: false });
  if (folder === undefined) return undefined;
  // Since Linux 6.2 the size of the folder is their number.
  return folder.size > 0 ? folder.size : listDescriptors().length;
}

/** The maximum number of open files and sockets; undefined if unknown. */
export function readDescriptorLimit(): number | undefined {
  if (descriptorLimit !== undefined) return descriptorLimit;
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    descriptorLimit = limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined; // no /proc: another system than Linux
  }
  return descriptorLimit;
}

/** Descriptors that are open now. */
export function listDescriptors(): number[] {
  try {
    return readdirSync(FD_FOLDER).map(Number);
  } catch {
    // Listing needs a descriptor and none is left: all numbers are in use.
    return Array.from({ length: readDescriptorLimit() ?? 0 }, (_, fd) => fd);
  }
}

/** Whether a thread can be started. Bun ends the whole process if a thread finds no descriptor when it starts. */
export function canStartThread(): boolean {
  const [open, limit] = [countOpenDescriptors(), readDescriptorLimit()];
  return open === undefined || limit === undefined || open + THREAD_DESCRIPTORS <= limit;
}

/** Call this before starting a thread. @throws Error EMFILE if {@link canStartThread} is false */
export function requireDescriptors(): void {
  if (canStartThread()) return;
  throw Object.assign(new Error("EMFILE: too many open files to start a thread"), { code: "EMFILE" });
}
