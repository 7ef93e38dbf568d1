/** The descriptors of this process: its open files and sockets. Linux only; elsewhere nothing is known of them. */
import { readdirSync, readFileSync, statSync } from "node:fs";

const FD_FOLDER = "/proc/self/fd";
/** What a thread opens while it starts, with some to spare. */
const THREAD_DESCRIPTORS = 16;

/** Remembered: Bun raises it as far as it may before anything of ours runs, and there may be no descriptor left to read it. */
let descriptorLimit: number | undefined;

/** How many files and sockets this process has open; undefined where that is unknown. Some microseconds. */
export function countOpenDescriptors(): number | undefined {
  const folder = statSync(FD_FOLDER, { throwIfNoEntry: false });
  if (folder === undefined) return undefined;
  // Since Linux 6.2 the size of the folder is their number.
  return folder.size > 0 ? folder.size : listDescriptors().length;
}

/** How many it may have open; undefined where that is unknown. */
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
    // Listing takes a descriptor, and there is none left: then all numbers are in use.
    return Array.from({ length: readDescriptorLimit() ?? 0 }, (_, fd) => fd);
  }
}

/** Whether a thread may be started. Bun ends the whole process where a thread finds no descriptor at its start. */
export function canStartThread(): boolean {
  const [open, limit] = [countOpenDescriptors(), readDescriptorLimit()];
  return open === undefined || limit === undefined || open + THREAD_DESCRIPTORS <= limit;
}

/** To be called before a thread is started. @throws Error EMFILE where it may not, see {@link canStartThread} */
export function requireDescriptors(): void {
  if (canStartThread()) return;
  throw Object.assign(new Error("EMFILE: too many open files to start a thread"), { code: "EMFILE" });
}
