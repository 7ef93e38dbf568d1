import type { Log } from "../../../lib/log.ts";
import type { ConfigureMessage, FromChild, HelloMessage, RenderRequest } from "./protocol.ts";
import { findResidentBytes } from "../processes/process-usage.ts";
import { errorCode } from "../../../lib/error.ts";

/** How a child ended. */
export interface ProcessEnd {
  /** Why we killed it, if we did. */
  readonly killReason: string | undefined;
  readonly exitCode: number | null;
  readonly signal: string | undefined;
  /** The last line it wrote to standard error. */
  readonly lastError: string;
}

/** Dependencies of {@link RenderProcess}. */
export interface RenderProcessOptions {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly configure: ConfigureMessage;
  readonly log: Log;
  readonly onMessage: (message: Exclude<FromChild, HelloMessage>) => void;
  /** Called once, after the process and everything it started is gone. */
  readonly onEnd: (end: ProcessEnd) => void;
}

const LAST_ERROR_CHARS = 300;

/** One child process, from start to end. It leads its own process group, so that an ffmpeg it started ends with it. */
export class RenderProcess {
  readonly pid: number;
  readonly #log: Log;
  readonly #child: Bun.Subprocess<"ignore", "ignore", "pipe">;
  #killReason: string | undefined;
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
    // The child alone must not keep the server running.
    this.#child.unref();
    void this.#awaitEnd(options.onEnd);
  }

  /** Requests a rendering. A response, or the end of the process, follows. */
  request(message: RenderRequest): void {
    this.#send(message);
  }

  /** Whether it has ended or is about to; it then takes no more requests. */
  get isTerminating(): boolean {
    return this.#isTerminating;
  }

  /** Resident memory in bytes; undefined if unknown. */
  findResidentBytes(): number | undefined {
    return this.#hasEnded ? undefined : findResidentBytes(this.pid);
  }

  /** Kills the process with everything it started. The first reason given stays. */
  kill(killReason: string): void {
    this.#killReason ??= killReason;
    this.#isTerminating = true;
    if (!this.#hasEnded) this.#killGroup();
  }

  /** Resolves when the process is gone. */
  async ended(): Promise<void> {
    await this.#child.exited;
  }

  #send(message: ConfigureMessage | RenderRequest): void {
    try {
      this.#child.send(message);
    } catch (error) {
      // The channel closes shortly before the process ends. Without a kill reason, onEnd reports how it ended.
      this.#isTerminating = true;
      this.#log.debug("The connection to the thumbnail process is closed.", { error });
      this.#killGroup();
    }
  }

  #killGroup(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch (error) {
      if (errorCode(error) !== "ESRCH") throw error;
    }
  }

  async #awaitEnd(onEnd: (end: ProcessEnd) => void): Promise<void> {
    const lastError = readTail(this.#child.stderr);
    await this.#child.exited;
    this.#isTerminating = true;
    this.#hasEnded = true;
    this.#killGroup();
    const { exitCode, signalCode } = this.#child;
    onEnd({
      killReason: this.#killReason,
      exitCode,
      signal: signalCode === null ? undefined : String(signalCode),
      lastError: await lastError,
    });
  }
}

async function readTail(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let tail = "";
  for await (const chunk of stream) tail = (tail + decoder.decode(chunk, { stream: true })).slice(-LAST_ERROR_CHARS);
  return tail.replaceAll(/\s+/g, " ").trim();
}
