/**
 * Describes the machine, which the figures depend on.
 */
import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import sharp from "sharp";
import { run } from "./processes.ts";

export interface Machine {
  processor: string;
  cores: number;
  memoryGib: number;
  kernel: string;
  fileSystem: string;
  versions: Record<string, string>;
}

/** Describes this machine, the disk with `directory`, and the versions of the programs. */
export async function describeMachine(directory: string, executable: string): Promise<Machine> {
  return {
    processor: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    fileSystem: fileSystemOf(directory),
    versions: {
      larder: await firstLine([executable, "version"]),
      bun: Bun.version,
      nginx: await firstLine(["/bin/sh", "-c", "PATH=$PATH:/usr/sbin nginx -v 2>&1"]),
      sharp: sharp.versions.sharp ?? "unknown",
      libvips: sharp.versions.vips,
    },
  };
}

/** Device, type and options of the mount with a path. */
function fileSystemOf(path: string): string {
  const mounts = readFileSync("/proc/mounts", "utf8").trim().split("\n");
  const holding = mounts
    .map((line) => line.split(" "))
    .filter(([, point]) => point === "/" || path === point || path.startsWith(`${point}/`))
    .sort((a, b) => (b[1]?.length ?? 0) - (a[1]?.length ?? 0))[0];
  return holding === undefined ? "unknown" : `${holding[0]} ${holding[2]} (${holding[3]})`;
}

async function firstLine(command: string[]): Promise<string> {
  try {
    return (await run(command)).trim().split("\n")[0] ?? "";
  } catch (error) {
    return `none (${error instanceof Error ? error.message : String(error)})`;
  }
}
