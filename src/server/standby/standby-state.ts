/**
 * `larder.standby` in the data directory: what a standby is doing, for commands on the same machine. A command asks it to
 * take over by a second file, `larder.promote`.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../lib/error.ts";
import type { DataPaths } from "../data/data-directory.ts";
import { findRunningServer } from "../data/lock.ts";

/** What a standby is doing. */
export type StandbyStep =
  /** It follows the owner. */
  | "waiting"
  /** It takes over. */
  | "promoting"
  /** It has taken over, and serves requests. */
  | "serving";

/** The content of the file. */
export interface StandbyState {
  readonly pid: number;
  readonly step: StandbyStep;
  /** A sentence for people. */
  readonly text: string;
  /** Number of attempts to take over. */
  readonly attempts: number;
  /** Why the last attempt failed; null if it did not. */
  readonly failure: string | null;
}

const STATE = "larder.standby";
const REQUEST = "larder.promote";

/** Writes and reads the files. */
export class StandbyFiles {
  readonly #state: string;
  readonly #request: string;

  /** @param root the data directory */
  constructor(root: string) {
    this.#state = join(root, STATE);
    this.#request = join(root, REQUEST);
  }

  write(state: StandbyState): void {
    const unfinished = `${this.#state}.tmp`;
    fs.writeFileSync(unfinished, `${JSON.stringify(state)}\n`, { mode: 0o600 });
    fs.renameSync(unfinished, this.#state);
  }

  /** The state; undefined if no standby has run here, or the file is not one. */
  read(): StandbyState | undefined {
    try {
      const value: unknown = JSON.parse(fs.readFileSync(this.#state, "utf8"));
      return parseState(value);
    } catch (error) {
      if (error instanceof SyntaxError || errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  remove(): void {
    fs.rmSync(this.#state, { force: true });
    fs.rmSync(this.#request, { force: true });
  }

  /** Asks the standby to take over. */
  request(): void {
    try {
      // Root may ask a standby of another user, whose link must not be followed.
      fs.writeFileSync(this.#request, "", { mode: 0o600, flag: "wx" });
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }

  /** Whether it was asked to take over since the last call. */
  takeRequest(): boolean {
    if (!fs.existsSync(this.#request)) return false;
    fs.rmSync(this.#request, { force: true });
    return true;
  }
}

/** What the standby of a data directory is doing; undefined if none is running, or it has taken over. */
export function findStandby({ root, lock }: Pick<DataPaths, "root" | "lock">): StandbyState | undefined {
  const state = findRunningServer(lock) === undefined ? undefined : new StandbyFiles(root).read();
  return state?.step === "serving" ? undefined : state;
}

function parseState(value: unknown): StandbyState | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, step, text, attempts, failure }: Partial<Record<keyof StandbyState, unknown>> = value;
  if (step !== "waiting" && step !== "promoting" && step !== "serving") return undefined;
  if (typeof pid !== "number" || typeof text !== "string" || typeof attempts !== "number") return undefined;
  return { pid, step, text, attempts, failure: typeof failure === "string" ? failure : null };
}
