import { AppError } from "../../../errors.ts";
import { Turns } from "../../../lib/turns.ts";
import { type Message, say, sayText } from "../../../translations/say.ts";
import { findResidentBytes } from "../processes/process-usage.ts";
import { AREA_FAULT_CODE, CONTENT_FAULT_CODE } from "./child.ts";
import type { AvatarPictures, AvatarRequest, EditRequest } from "./types.ts";

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
const IN_PROGRESS = say`Other images are being edited. Try again in a moment.`;

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
    const { nativeDir, libvips } = this.#options;
    const given: EditRequest = { ...request, nativeDir, libvips };
    await this.#queue(accountId, () => this.#run([given], write, cannotEdit));
  }

  /**
   * Makes the pictures of a person from an image.
   * @param accountId whose request it is
   * @throws AppError unsupported_media_type if it is no image that can be read; overloaded; internal errors if the
   *   process can't run
   */
  async makeAvatar(accountId: number, image: Uint8Array): Promise<AvatarPictures> {
    const { nativeDir, libvips } = this.#options;
    const given: AvatarRequest = { isAvatar: true, nativeDir, libvips };
    const written: Uint8Array[] = [];
    const write = (bytes: Uint8Array) => void written.push(bytes);
    await this.#queue(accountId, () => this.#run([given, image], write, cannotUse));
    const both = Buffer.concat(written);
    const largeEnd = 4 + both.readUInt32LE(0);
    return { large: both.subarray(4, largeEnd), small: both.subarray(largeEnd) };
  }

  async #queue(accountId: number, run: () => Promise<void>): Promise<void> {
    const others = this.#ofAccount.get(accountId) ?? 0;
    if (others >= PER_ACCOUNT_MAX) throw new AppError("overloaded", IN_PROGRESS);
    this.#ofAccount.set(accountId, others + 1);
    try {
      await this.#turns.take([ONE_AT_A_TIME], run);
    } finally {
      const left = (this.#ofAccount.get(accountId) ?? 1) - 1;
      if (left > 0) this.#ofAccount.set(accountId, left);
      else this.#ofAccount.delete(accountId);
    }
  }

  /** @param rejection the error if the picture is the cause of a failure */
  async #run(
    [request, image]: readonly [EditRequest | AvatarRequest, image?: Uint8Array],
    write: (bytes: Uint8Array) => Promise<void> | void,
    rejection: (reason: Message) => AppError,
  ): Promise<void> {
    const { command, memoryLimitBytes } = this.#options;
    const child = Bun.spawn([...command], {
      env: ENVIRONMENT,
      stdin: Buffer.concat([Buffer.from(`${JSON.stringify(request)}\n`), ...(image === undefined ? [] : [image])]),
      stdout: "pipe",
      stderr: "pipe",
    });
    let limit: Message | undefined;
    const end = (reason: Message) => {
      limit ??= reason;
      child.kill("SIGKILL");
    };
    const timeout = setTimeout(() => end(say`it took too long`), TIMEOUT_MS);
    const watch = setInterval(() => {
      if ((findResidentBytes(child.pid) ?? 0) > memoryLimitBytes) end(say`it needs too much memory`);
    }, WATCH_MS);
    try {
      for await (const bytes of child.stdout) await write(bytes);
      const [code, reason] = await Promise.all([child.exited, new Response(child.stderr).text()]);
      if (code === 0) return;
      if (code === AREA_FAULT_CODE) throw new AppError("invalid_field", sayText(reason), { field: "crop" });
      if (limit !== undefined || code === CONTENT_FAULT_CODE) throw rejection(limit ?? sayText(reason));
      throw new Error(`The editing process ended with ${code}: ${reason}`);
    } finally {
      clearTimeout(timeout);
      clearInterval(watch);
      child.kill("SIGKILL");
    }
  }
}

/** The error for a picture that can't be edited. @param reason a clause such as "it is animated" */
export function cannotEdit(reason: Message): AppError {
  return new AppError("unsupported_media_type", say`This image can't be edited: ${reason}.`);
}

/** The reason is about the inside of the file, which helps nobody who chooses a picture. */
function cannotUse(): AppError {
  return new AppError(
    "unsupported_media_type",
    say`This can't be your picture: it is damaged, too large, or no image. Choose a JPEG, PNG, WebP, AVIF or GIF.`,
  );
}
