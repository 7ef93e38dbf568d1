/** Names of exported files: those of the account, wherever the target's file system allows them. */
import * as fs from "node:fs";
import { join } from "node:path";
import { fold } from "../../../lib/path.ts";
import { safeName } from "../../library/archive/entry-name.ts";
import { numberedName } from "../../../tree/tables/names.ts";

/** Limits of a file system. */
export interface TargetLimits {
  /** Whether characters and names are rejected that Windows reserves. */
  readonly isPortableOnly: boolean;
  /** Whether `A` and `a` are the same name. */
  readonly isCaseless: boolean;
}

const HOSTILE = /[<>"|?*]/g;
const PROBE = ".larder-probe";

/** Detects the limits of a folder's file system, by making and deleting files. */
export function probeTarget(folder: string): TargetLimits {
  return {
    isPortableOnly: !canMake(folder, `${PROBE}:?*`),
    isCaseless: ignoresCase(folder),
  };
}

function canMake(folder: string, name: string): boolean {
  const path = join(folder, name);
  try {
    fs.writeFileSync(path, "");
    // Some systems truncate such a name instead of rejecting it.
    return fs.readdirSync(folder).includes(name);
  } catch {
    return false; // other errors are reported when the first file is written
  } finally {
    fs.rmSync(path, { force: true });
  }
}

function ignoresCase(folder: string): boolean {
  const path = join(folder, PROBE);
  fs.writeFileSync(path, "");
  try {
    return fs.existsSync(join(folder, PROBE.toUpperCase()));
  } finally {
    fs.rmSync(path, { force: true });
  }
}

/** Assigns unique names in one folder. Files in the same order get the same names at every export. */
export class TargetNames {
  readonly #limits: TargetLimits;
  readonly #used = new Set<string>();

  /** @param reserved names that are not assigned in this folder */
  constructor(limits: TargetLimits, reserved: readonly string[] = []) {
    this.#limits = limits;
    for (const name of reserved) this.#used.add(this.#keyOf(name));
  }

  /** The name on disk of a file or folder. */
  nameFor(name: string): string {
    const allowed = this.#limits.isPortableOnly ? safeName(name).replace(HOSTILE, "_") : name;
    let free = allowed;
    for (let number = 1; this.#used.has(this.#keyOf(free)); number++) free = numberedName(allowed, number);
    this.#used.add(this.#keyOf(free));
    return free;
  }

  #keyOf(name: string): string {
    return this.#limits.isCaseless ? fold(name) : name;
  }
}
