// Libraries for LD_PRELOAD that cause rare faults: a clock that jumps.
import { mkdtemp, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../mounts.ts";

const folder = await mkdtemp(join(tmpdir(), "larder-preload-"));

/**
 * Compiles one of the libraries in this folder.
 *
 * @returns its path; undefined if there is no C compiler
 */
async function compile(name: string): Promise<string | undefined> {
  if (process.platform !== "linux") return undefined;
  const library = join(folder, `${name}.so`);
  const source = join(import.meta.dir, `${name}.c`);
  const { code } = await run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]);
  return code === 0 ? library : undefined;
}

const clockLibrary = await compile("clock");

/** Why the clock cannot be moved on this machine; undefined if it can. */
export const clockFails: string | undefined = clockLibrary === undefined ? "there is no C compiler" : undefined;

/** A clock for one server that a test can move. */
export interface MovableClock {
  /** Add these variables to the server's environment. */
  readonly env: Record<string, string>;
  /** Sets the offset from the machine's clock in seconds; negative is earlier. */
  readonly set: (seconds: number) => Promise<void>;
}

/** Creates a clock that follows the machine's clock until it is set. */
export async function createMovableClock(): Promise<MovableClock> {
  const path = join(await mkdtemp(join(folder, "clock-")), "offset");
  const set = async (seconds: number) => {
    const file = await open(path, "a+").then(async (created) => {
      await created.close();
      return open(path, "r+");
    });
    try {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(seconds));
      await file.write(bytes, 0, 8, 0);
    } finally {
      await file.close();
    }
  };
  await set(0);
  return { env: { LD_PRELOAD: clockLibrary ?? "", LARDER_TEST_CLOCK: path }, set };
}
