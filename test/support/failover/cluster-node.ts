// One machine of a failover round: a data directory, a network, and the process that serves or waits there.
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { RecordedResponse } from "../client.ts";
import { cleanEnv, type CommandResult, repositoryRoot, testCommand } from "../server.ts";
import { canCutLinks, ServerNetwork } from "./network.ts";

/** What the process of a machine was started as. */
export type NodeCommand = "serve" | "standby" | "promote";

/** A process of Larder and its responses. A machine has several of them, one after the other. */
export interface Incarnation {
  /** Unique in a run: the machine and a number. */
  readonly name: string;
  readonly command: NodeCommand;
  readonly child: Bun.Subprocess;
  /** Everything that it has written. */
  output: string;
  hasEnded: boolean;
}

/** The port of machines in namespaces of their own. */
const PORT = 8790;
const STOP_MS_MAX = 60_000;

/** One machine. */
export class ClusterNode {
  current: Incarnation | undefined;
  isFrozen = false;
  /** Never filled: it lets the client of the tests use a machine as its target. */
  readonly responses: RecordedResponse[] = [];
  private count = 0;

  private constructor(
    readonly name: string,
    readonly dataDir: string,
    readonly network: ServerNetwork,
    private readonly environment: Record<string, string>,
    private readonly port: number,
    private readonly logPath: string,
  ) {}

  /** @param settingsOf returns the settings for a machine that reaches the object store at this address */
  static async create(
    number: number,
    directory: string,
    settingsOf: (storeAddress: string) => Record<string, string>,
  ): Promise<ClusterNode> {
    const name = String.fromCodePoint(64 + number);
    const network = await ServerNetwork.create(number);
    const dataDir = join(directory, name);
    await mkdir(dataDir, { mode: 0o700, recursive: true });
    const environment = settingsOf(network.store.hubAddress);
    const port = canCutLinks ? PORT : findFreePort();
    return new ClusterNode(name, dataDir, network, environment, port, join(directory, `${name}.log`));
  }

  get url(): string {
    return `http://${this.network.clients.serverAddress}:${this.port}`;
  }

  get isRunning(): boolean {
    return this.current !== undefined && !this.current.hasEnded;
  }

  /** Starts a process, and returns without waiting for it. @throws Error if one is running */
  start(command: NodeCommand, extra: Record<string, string> = {}): Incarnation {
    if (this.isRunning) throw new Error(`${this.name} is running already`);
    this.count += 1;
    const child = Bun.spawn(["sh", "-c", 'exec "$@" 2>&1', "sh", ...this.network.prefix, ...testCommand(), command], {
      cwd: repositoryRoot,
      env: cleanEnv({ ...this.settings, ...extra }),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    const incarnation: Incarnation = {
      name: `${this.name}${this.count}`,
      command,
      child,
      output: "",
      hasEnded: false,
    };
    this.note(`--- ${incarnation.name}: larder ${command}, process ${child.pid}`);
    this.current = incarnation;
    void this.collect(incarnation, child.stdout);
    void child.exited.then((code) => {
      incarnation.hasEnded = true;
      this.note(`--- ${incarnation.name} ended with ${code ?? child.signalCode}`);
    });
    return incarnation;
  }

  /** Runs a command of Larder to its end on this machine. */
  async run(args: readonly string[], msMax = 60_000): Promise<CommandResult> {
    const child = Bun.spawn([...this.network.prefix, ...testCommand(), ...args], {
      cwd: repositoryRoot,
      env: cleanEnv(this.settings),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: msMax,
      killSignal: "SIGKILL",
    });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    this.note(`--- larder ${args.join(" ")} ended with ${code}\n${stdout}${stderr}`);
    return { code, stdout, stderr };
  }

  /** Whether it responds with 200 to this path within this time. */
  async isUp(path = "/health/ready", msMax = 2_000): Promise<boolean> {
    return (await this.statusOf(path, msMax)) === 200;
  }

  /** The status of a response, or undefined if there is none. */
  async statusOf(path: string, msMax = 2_000): Promise<number | undefined> {
    try {
      const response = await fetch(this.url + path, { signal: AbortSignal.timeout(msMax), keepalive: false });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return undefined;
    }
  }

  /** Kills the process as a crash does. @param withLitestream also its Litestream, as a power failure does */
  async kill9(withLitestream: boolean): Promise<void> {
    const litestream = withLitestream ? this.litestreamPids() : [];
    this.signal("SIGKILL");
    for (const pid of litestream) signalProcess(pid, "SIGKILL");
    await this.current?.child.exited;
  }

  /** Stops the process as systemd does. @returns its exit code */
  async stop(): Promise<number> {
    const child = this.current?.child;
    if (child === undefined) return 0;
    this.thaw();
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
    const code = await child.exited;
    clearTimeout(timer);
    return code;
  }

  freeze(what: "larder" | "litestream" | "both"): void {
    this.isFrozen = true;
    if (what !== "litestream") this.signal("SIGSTOP");
    if (what !== "larder") for (const pid of this.litestreamPids()) signalProcess(pid, "SIGSTOP");
  }

  thaw(): void {
    if (!this.isFrozen) return;
    this.isFrozen = false;
    for (const pid of this.litestreamPids()) signalProcess(pid, "SIGCONT");
    this.signal("SIGCONT");
  }

  /** Kills Litestream only. @returns whether there was one */
  killLitestream(): boolean {
    const pids = this.litestreamPids();
    for (const pid of pids) signalProcess(pid, "SIGKILL");
    return pids.length > 0;
  }

  /** Processes of Litestream that work for this data directory, also those that an earlier server left. */
  litestreamPids(): number[] {
    return findProcesses((words) => (words[0] ?? "").includes("litestream") && words.join(" ").includes(this.dataDir));
  }

  /** Kills everything on this machine, and empties its data directory. */
  async wipe(): Promise<void> {
    this.thaw();
    if (this.isRunning) await this.kill9(true);
    for (const pid of this.litestreamPids()) signalProcess(pid, "SIGKILL");
    await rm(this.dataDir, { recursive: true, force: true });
    await mkdir(this.dataDir, { mode: 0o700 });
  }

  async close(): Promise<void> {
    this.thaw();
    this.network.heal();
    if (this.isRunning) await this.kill9(true);
    for (const pid of this.litestreamPids()) signalProcess(pid, "SIGKILL");
    await this.network.close();
  }

  /** Appends a line to the log of this machine. */
  note(line: string): void {
    appendFileSync(this.logPath, `${new Date().toISOString()} ${line}\n`);
  }

  private get settings(): Record<string, string> {
    return {
      ...this.environment,
      LARDER_DATA: this.dataDir,
      LARDER_HOST: this.network.clients.serverAddress,
      LARDER_PORT: String(this.port),
    };
  }

  private signal(name: NodeJS.Signals): void {
    if (this.isRunning) this.current?.child.kill(name);
  }

  private async collect(incarnation: Incarnation, stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      const text = decoder.decode(bytes, { stream: true });
      incarnation.output += text;
      appendFileSync(this.logPath, text);
    }
  }
}

/** A port of loopback that nobody uses now. */
function findFreePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop();
  return port;
}

/** Process ids whose command line fulfills a condition. */
export function findProcesses(matches: (words: readonly string[]) => boolean): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return matches(readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0"));
      } catch {
        // The process has ended.
        return false;
      }
    })
    .map(Number);
}

function signalProcess(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
