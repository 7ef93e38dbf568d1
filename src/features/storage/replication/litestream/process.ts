/** Runs Litestream as a child process, and starts it again when it ends. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { backoffMs } from "../../../../lib/backoff.ts";
import { errorCode, messageOf } from "../../../../lib/error.ts";
import type { Log } from "../../../../lib/log.ts";

/** A line of Litestream's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** Dependencies of {@link LitestreamProcess}. */
export interface LitestreamProcessOptions {
  /** The program, perhaps with words before it. */
  readonly command: readonly string[];
  /** The path of its configuration. */
  readonly configuration: string;
  /** The keys of the bucket. Only the environment has them: every user can read a command line. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Other variables of the child. */
  readonly environment: Readonly<Record<string, string>>;
  /** Called before each start, while no process runs. */
  readonly beforeStart: () => Promise<void>;
  readonly onLine: (line: LogLine) => void;
  readonly log: Log;
}

const BACKOFF = { firstMs: 500, maxMs: 30_000 };
/** A process that ran for this long is started again at once. */
const LONG_RUN_MS = 60_000;
const LINE_MAX = 64 * 1024;
const ERROR_TEXT_MAX = 500;

type Child = Bun.Subprocess<"ignore", "pipe", "pipe">;

/**
 * The child process. Its log goes through a pipe, so it sends nothing any more after the server has ended: it logs each
 * segment first, and a line that nobody can read ends a program in Go.
 */
export class LitestreamProcess {
  readonly #options: LitestreamProcessOptions;
  #child: Child | undefined;
  #ignored: Child | undefined;
  /** Resolves when everything that the child wrote was read. */
  #read: Promise<unknown> = Promise.resolve();
  #isStopped = false;
  #failures = 0;
  #crashes = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #lastError: string | undefined;

  constructor(options: LitestreamProcessOptions) {
    this.#options = options;
  }

  /** Whether it runs. */
  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** The process, while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** What it reported last, if it is not known to work since. */
  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** Starts it. A process that cannot be started is tried again later. */
  async start(): Promise<void> {
    if (this.#isStopped) return;
    try {
      await this.#options.beforeStart();
      if (!this.#isStopped) this.#spawn();
    } catch (error) {
      this.#lastError = messageOf(error);
      this.#options.log.error("Litestream could not be started.", { error });
      this.#startLater();
    }
  }

  /** How often in a row it ended by its own fault, without having sent anything. */
  get crashes(): number {
    return this.#crashes;
  }

  /** Notes that it works. */
  noteSuccess(): void {
    this.#lastError = undefined;
    this.#crashes = 0;
  }

  /** Ends it at once, and starts it again. What it still had to say is ignored. */
  kill(): void {
    this.#ignored = this.#child;
    this.#child?.kill("SIGKILL");
  }

  /**
   * Ends it after it sent everything, and does not start it again. On return, everything it logged was passed on.
   */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    const child = this.#child;
    if (child === undefined) return;
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    await child.exited;
    clearTimeout(timer);
    await this.#read;
  }

  #spawn(): void {
    const { command, configuration, log } = this.#options;
    const startedMs = performance.now();
    const child = Bun.spawn([...command, "replicate", "-config", configuration, "-no-expand-env"], {
      env: this.#environment(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#child = child;
    this.#read = Promise.all([
      this.#follow(child, child.stdout, (line) => this.#noteLine(line)),
      this.#follow(child, child.stderr, (line) => this.#noteCrash(line)),
    ]);
    void child.exited.then((code) => {
      this.#child = undefined;
      if (this.#isStopped) return;
      if (child.signalCode === null) this.#crashes++;
      if (performance.now() - startedMs > LONG_RUN_MS) this.#failures = 0;
      log.warn("Litestream has ended; starting it again.", { code, signal: child.signalCode, error: this.#lastError });
      this.#startLater();
    });
  }

  #startLater(): void {
    const delayMs = backoffMs(++this.#failures, BACKOFF);
    this.#retry = setTimeout(() => void this.start(), delayMs);
  }

  #environment(): Record<string, string> {
    const { environment, accessKeyId, secretAccessKey } = this.#options;
    return {
      ...environment,
      LITESTREAM_ACCESS_KEY_ID: accessKeyId,
      LITESTREAM_SECRET_ACCESS_KEY: secretAccessKey,
    };
  }

  #noteLine(text: string): void {
    const line = parseLine(text);
    if (line === undefined) return this.#noteError(text);
    if (line["level"] === "ERROR" || line["level"] === "WARN") {
      const { msg, error } = line;
      this.#noteError(`${JSON.stringify(msg)}: ${JSON.stringify(error)}`);
    }
    this.#options.onLine(line);
  }

  #noteError(text: string): void {
    const { secretAccessKey, log } = this.#options;
    const shown = text.replaceAll(secretAccessKey, "(secret)").slice(0, ERROR_TEXT_MAX);
    this.#lastError = shown;
    log.warn("Litestream reported a problem.", { message: shown });
  }

  /** Standard error has only the report of a crash, which begins with its reason. */
  #noteCrash(text: string): void {
    if (/^(?:panic|fatal error):/.test(text)) this.#noteError(text);
    else this.#options.log.debug("Litestream reported a crash.", { message: text.slice(0, ERROR_TEXT_MAX) });
  }

  async #follow(child: Child, stream: ReadableStream<Uint8Array>, onLine: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of stream) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = (lines.pop() ?? "").slice(0, LINE_MAX);
      for (const line of lines) if (line !== "" && child !== this.#ignored) onLine(line);
    }
  }
}

/**
 * Kills the Litestream that an earlier server of this directory left behind.
 * @param configuration the path of its configuration
 */
export async function killLeftover(configuration: string, log: Log): Promise<void> {
  for (const pid of listProcesses()) {
    if (!isOurs(pid, configuration)) continue;
    log.warn("Ending the Litestream of an earlier server.", { pid });
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (errorCode(error) !== "ESRCH") throw error; // It has ended since.
    }
    while (isOurs(pid, configuration)) await Bun.sleep(5);
  }
}

/** Processes of other users and other programs, such as an editor, may have the path in their command line too. */
function isOurs(pid: number, configuration: string): boolean {
  try {
    // A process that has ended, but whose parent did not notice yet, has an empty command line.
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    const at = words.indexOf("replicate");
    if (at < 0 || words[at + 1] !== "-config" || words[at + 2] !== configuration) return false;
    return statSync(`/proc/${pid}`).uid === process.getuid?.();
  } catch {
    return false; // It has ended.
  }
}

function listProcesses(): number[] {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 1 && pid !== process.pid);
  } catch {
    return []; // There is no /proc.
  }
}

function parseLine(text: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}
