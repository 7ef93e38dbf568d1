/** Names on the disk that an export is written to: those of the account wherever that disk can have them. */
import * as fs from "node:fs";
import { join } from "node:path";
import { fold } from "../../../lib/path.ts";
import { safeName } from "../../library/archive/entry-name.ts";
import { numberedName } from "../../../tree/tables/names.ts";

/** What a file system can't have. */
export interface TargetLimits {
  /** Characters and names that Windows and its file systems keep for themselves. */
  readonly isPortableOnly: boolean;
  /** `A` and `a` are one name. */
  readonly isCaseless: boolean;
}

const HOSTILE = /[<>"|?*]/g;
const PROBE = ".larder-probe";

/** Finds out what a folder's file system can have, by making files and taking them away again. */
export function probeTarget(folder: string): TargetLimits {
  return {
    isPortableOnly: !canMake(folder, `${PROBE}:?*`),
    isCaseless: isFoundOtherwise(folder),
  };
}

function canMake(folder: string, name: string): boolean {
  const path = join(folder, name);
  try {
    fs.writeFileSync(path, "");
    // Some systems cut such a name instead of refusing it.
    return fs.readdirSync(folder).includes(name);
  } catch {
    return false; // whatever else is wrong is found when the first file is written
  } finally {
    fs.rmSync(path, { force: true });
  }
}

function isFoundOtherwise(folder: string): boolean {
  const path = join(folder, PROBE);
  fs.writeFileSync(path, "");
  try {
    return fs.existsSync(join(folder, PROBE.toUpperCase()));
  } finally {
    fs.rmSync(path, { force: true });
  }
}

/** Gives out the names of one folder, each once. To be asked in the same order each time, so that they stay the same. */
export class TargetNames {
  readonly #limits: TargetLimits;
  readonly #given = new Set<string>();

  /** @param reserved names that are used otherwise in this folder */
  constructor(limits: TargetLimits, reserved: readonly string[] = []) {
    this.#limits = limits;
    for (const name of reserved) this.#given.add(this.#keyOf(name));
  }

  /** The name on disk of what has this name in the account. */
  nameFor(name: string): string {
    const wanted = this.#limits.isPortableOnly ? safeName(name).replace(HOSTILE, "_") : name;
    let free = wanted;
    for (let number = 1; this.#given.has(this.#keyOf(free)); number++) free = numberedName(wanted, number);
    this.#given.add(this.#keyOf(free));
    return free;
  }

  #keyOf(name: string): string {
    return this.#limits.isCaseless ? fold(name) : name;
  }
}
