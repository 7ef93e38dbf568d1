import type { Log } from "../../../lib/log.ts";
import type { Configure, FromChild, Hello, RenderRequest } from "./protocol.ts";
import { findResidentBytes } from "./process-memory.ts";

/** How a child ended. */
export interface ProcessEnd {
  /** Why we ended it, if it was us. */
  readonly verdict: string | undefined;
  readonly exitCode: number | null;
  readonly signal: string | undefined;
  /** The last that it said on standard error, one line. */
  readonly lastWords: string;
}

/** What a {@link RenderProcess} is started with, and whom it tells. */
export interface RenderProcessOptions {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly configure: Configure;
  readonly log: Log;
  readonly onMessage: (message: Exclude<FromChild, Hello>) => void;
  /** Called once, after the process and everything it started is gone. */
  readonly onEnd: (end: ProcessEnd) => void;
}

const LAST_WORDS_CHARS = 300;

/**
 * One child process: from its start to its end. It leads a process group of its own, so that an ffmpeg which it
 * started ends with it.
 */
export class RenderProcess {
  readonly pid: number;
  readonly #log: Log;
  readonly #child: Bun.Subprocess<"ignore", "ignore", "pipe">;
  #verdict: string | undefined;
  #isTerminating = false;
  #hasEnded = false;

  /** @throws the system's error when the command can't be started */
  constructor(options: RenderProcessOptions) {
    this.#log = options.log;
    const [executable, ...args] = options.command;
    if (executable === undefined) throw new Error("the command of the thumbnail process is empty");
    this.#child = Bun.spawn([executable, ...args], {
      env: options.environment,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      detached: true,
      serialization: "json",
      ipc: (message: FromChild) => {
        if (this.#isTerminating) return;
        if (message.type === "hello") this.#send(options.configure);
        else options.onMessage(message);
      },
    });
    this.pid = this.#child.pid;
    // It alone must not keep the server running.
    this.#child.unref();
    void this.#awaitEnd(options.onEnd);
  }

  /** Asks for a rendering. An answer, or the end of the process, follows. */
  request(message: RenderRequest): void {
    this.#send(message);
  }

  /** It has ended or is about to: nothing more is to be asked of it. */
  get isTerminating(): boolean {
    return this.#isTerminating;
  }

  /** Resident memory in bytes, or undefined when it can't be told. */
  findResidentBytes(): number | undefined {
    return this.#hasEnded ? undefined : findResidentBytes(this.pid);
  }

  /** Ends the process at once, with all that it started. The first reason given is the one that stays. */
  kill(verdict: string): void {
    this.#verdict ??= verdict;
    this.#isTerminating = true;
    if (!this.#hasEnded) this.#killGroup();
  }

  /** Resolves when the process is gone. */
  async ended(): Promise<void> {
    await this.#child.exited;
  }

  #send(message: Configure | RenderRequest): void {
    try {
      this.#child.send(message);
    } catch (error) {
      // The channel closes a moment before the end is seen. No verdict: onEnd tells how it ended by itself.
      this.#isTerminating = true;
      this.#log.debug("The connection to the thumbnail process is closed.", { error });
      this.#killGroup();
    }
  }

  #killGroup(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }

  async #awaitEnd(onEnd: (end: ProcessEnd) => void): Promise<void> {
    const lastWords = readTail(this.#child.stderr);
    await this.#child.exited;
    this.#isTerminating = true;
    this.#hasEnded = true;
    this.#killGroup();
    const { exitCode, signalCode } = this.#child;
    onEnd({
      verdict: this.#verdict,
      exitCode,
      signal: signalCode === null ? undefined : String(signalCode),
      lastWords: await lastWords,
    });
  }
}

async function readTail(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let tail = "";
  for await (const chunk of stream) tail = (tail + decoder.decode(chunk, { stream: true })).slice(-LAST_WORDS_CHARS);
  return tail.replaceAll(/\s+/g, " ").trim();
}
