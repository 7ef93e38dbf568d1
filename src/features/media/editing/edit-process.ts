import { AppError } from "../../../errors.ts";
import { Turns } from "../../../lib/turns.ts";
import { findResidentBytes } from "../processes/process-memory.ts";
import { AREA_FAULT_CODE, CONTENT_FAULT_CODE } from "./child.ts";
import type { EditRequest } from "./types.ts";

/** Dependencies of {@link EditProcess}. */
export interface EditProcessOptions {
  /** Executable and arguments that run `runEditChild()`. */
  readonly command: readonly string[];
  readonly nativeDir: string;
  readonly libvips: string | undefined;
  readonly memoryLimitBytes: number;
}

const TIMEOUT_MS = 60_000;
const WATCH_MS = 100;
const ENVIRONMENT = { LC_ALL: "C", MALLOC_ARENA_MAX: "2" };
/** Edits that wait for the running one. */
const WAITING_MAX = 16;
/** Edits of one account that run or wait, so that slow pictures of one person do not keep everybody from editing. */
const PER_ACCOUNT_MAX = 4;
const ONE_AT_A_TIME = 0;
const IN_PROGRESS = "Other images are being edited. Try again in a moment.";

/** Edits one picture after another, each in a process of its own: a hostile file can crash only that. */
export class EditProcess {
  readonly #options: EditProcessOptions;
  readonly #turns = new Turns(WAITING_MAX, IN_PROGRESS);
  /** How many edits of each account run or wait. */
  readonly #ofAccount = new Map<number, number>();

  constructor(options: EditProcessOptions) {
    this.#options = options;
  }

  /**
   * Edits a picture.
   * @param accountId whose request it is
   * @param write receives the new file, buffer by buffer. What it throws ends the process.
   * @throws AppError unsupported_media_type if the picture can't be edited; invalid_field; overloaded; internal errors if the process
   *   can't run
   */
  async edit(
    accountId: number,
    request: Pick<EditRequest, "path" | "mediaType" | "edit">,
    write: (bytes: Uint8Array) => Promise<void> | void,
  ): Promise<void> {
    const others = this.#ofAccount.get(accountId) ?? 0;
    if (others >= PER_ACCOUNT_MAX) throw new AppError("overloaded", IN_PROGRESS);
    this.#ofAccount.set(accountId, others + 1);
    try {
      await this.#turns.take([ONE_AT_A_TIME], () => this.#run(request, write));
    } finally {
      const left = (this.#ofAccount.get(accountId) ?? 1) - 1;
      if (left > 0) this.#ofAccount.set(accountId, left);
      else this.#ofAccount.delete(accountId);
    }
  }

  async #run(
    request: Pick<EditRequest, "path" | "mediaType" | "edit">,
    write: (bytes: Uint8Array) => Promise<void> | void,
  ): Promise<void> {
    const { command, nativeDir, libvips, memoryLimitBytes } = this.#options;
    const given: EditRequest = { ...request, nativeDir, libvips };
    const child = Bun.spawn([...command], {
      env: ENVIRONMENT,
      stdin: Buffer.from(JSON.stringify(given)),
      stdout: "pipe",
      stderr: "pipe",
    });
    let limit: string | undefined;
    const end = (reason: string) => {
      limit ??= reason;
      child.kill("SIGKILL");
    };
    const timeout = setTimeout(() => end("it took too long"), TIMEOUT_MS);
    const watch = setInterval(() => {
      if ((findResidentBytes(child.pid) ?? 0) > memoryLimitBytes) end("it needs too much memory");
    }, WATCH_MS);
    try {
      for await (const bytes of child.stdout) await write(bytes);
      const [code, reason] = await Promise.all([child.exited, new Response(child.stderr).text()]);
      if (code === 0) return;
      if (code === AREA_FAULT_CODE) throw new AppError("invalid_field", reason, { field: "crop" });
      if (limit !== undefined || code === CONTENT_FAULT_CODE) throw cannotEdit(limit ?? reason);
      throw new Error(`The editing process ended with ${code}: ${reason}`);
    } finally {
      clearTimeout(timeout);
      clearInterval(watch);
      child.kill("SIGKILL");
    }
  }
}

/** The error for a picture that can't be edited. @param reason a clause such as "it is animated" */
export function cannotEdit(reason: string): AppError {
  return new AppError("unsupported_media_type", `This image can't be edited: ${reason}.`);
}
