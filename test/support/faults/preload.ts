// Small libraries that are put before the system's own, to make happen what can't be had otherwise: a clock that jumps.
import { mkdtemp, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../mounts.ts";

const folder = await mkdtemp(join(tmpdir(), "larder-preload-"));

/**
 * Compiles one of the libraries beside this file.
 *
 * @returns its path; undefined where there is no C compiler
 */
async function compile(name: string): Promise<string | undefined> {
  if (process.platform !== "linux") return undefined;
  const library = join(folder, `${name}.so`);
  const source = join(import.meta.dir, `${name}.c`);
  const { code } = await run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]);
  return code === 0 ? library : undefined;
}

const clockLibrary = await compile("clock");

/** Why no clock can be made to jump here; undefined where it can. */
export const clockFails: string | undefined = clockLibrary === undefined ? "there is no C compiler" : undefined;

/** A clock for one server, that jumps when it is told to. */
export interface MovableClock {
  /** To be added to the environment of the server. */
  readonly env: Record<string, string>;
  /** Puts it so many seconds before or after the machine's own. */
  readonly set: (seconds: number) => Promise<void>;
}

/** Makes one that goes with the machine's own clock until it is set. */
export async function createMovableClock(): Promise<MovableClock> {
  const path = join(await mkdtemp(join(folder, "clock-")), "offset");
  const set = async (seconds: number) => {
    const file = await open(path, "a+").then(async (made) => {
      await made.close();
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
