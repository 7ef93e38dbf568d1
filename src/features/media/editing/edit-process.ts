import { AppError } from "../../../errors.ts";
import { Turns } from "../../../lib/turns.ts";
import { findResidentBytes } from "../thumbnails/process-memory.ts";
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
const ONE_AT_A_TIME = 0;

/** Edits one picture after another, each in a process of its own: a hostile file can crash only that. */
export class EditProcess {
  readonly #options: EditProcessOptions;
  readonly #turns = new Turns(WAITING_MAX);

  constructor(options: EditProcessOptions) {
    this.#options = options;
  }

  /**
   * Edits a picture.
   * @param write receives the new file, buffer by buffer. What it throws ends the process.
   * @throws AppError unsupported_media_type if the picture can't be edited; invalid_field; overloaded; internal errors if the process
   *   can't run
   */
  edit(
    request: Pick<EditRequest, "path" | "mediaType" | "edit">,
    write: (bytes: Uint8Array) => Promise<void> | void,
  ): Promise<void> {
    return this.#turns.take([ONE_AT_A_TIME], () => this.#run(request, write));
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
  return new AppError("unsupported_media_type", `This picture can't be edited: ${reason}.`);
}
