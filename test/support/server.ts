// Starts and stops the program under test as a separate process with its own data directory.
// LARDER_TEST_COMMAND sets the command (default: the source).
import { afterAll, beforeAll, setDefaultTimeout } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Account, Client, type RecordedResponse, freshEmail, signUp } from "./client.ts";
import { copyReadyAccounts, type ReadyAccounts } from "./ready-accounts.ts";

/** The root of the repository. The program is started there. */
export const repositoryRoot = resolve(import.meta.dir, "../..");

/** Exit code and output of a finished command. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Options of a server under test. */
export interface ServerOptions {
  /** Added to the environment; an empty string removes a default. */
  env?: Record<string, string>;
  /** The command that runs the server. Default: `serve`. */
  command?: "serve" | "standby" | "promote";
  /** Flags after the command, in addition to --data, --host and --port. */
  args?: string[];
  /** An existing data directory. Default: a temporary one, which is removed at the end. */
  dataDir?: string;
  /** Content of larder.toml in the data directory. */
  toml?: string;
  /**
   * Whether the server starts with prepared accounts, which `signUp` and `addUser` then return without creating them.
   * Not for tests of sign-up, of passwords, or of all accounts of a server. Requires the default plan of {@link
   * defaultEnv}.
   */
  hasAccounts?: boolean;
  /** Words before the command, for example to run as another user: `["setpriv", "--reuid=65534"]`. */
  prefix?: string[];
}

/** Longest duration of a start in milliseconds: generous, for busy machines. */
const startMsMax = 60_000;

/** Longest duration of a command in milliseconds. */
const commandMsMax = 60_000;

/**
 * Longest duration of a test in milliseconds. Many start processes; Bun's default of 5 seconds is too short on busy
 * machines.
 */
const testMsMax = 120_000;

setDefaultTimeout(testMsMax);

const defaultEnv: Record<string, string> = {
  LARDER_RATE_LIMITS: "off",
  LARDER_DEFAULT_PLAN: "enterprise",
};

/** Put before a command, redirects standard error to standard output, so that all lines are read in order. */
const inOneStream = ["sh", "-c", 'exec "$@" 2>&1', "sh"];

/** The command under test, with the absolute path of its program first. */
export function testCommand(): string[] {
  const words = (process.env["LARDER_TEST_COMMAND"] ?? "bun src/main.ts").split(/\s+/).filter((word) => word !== "");
  const [program = "bun", ...rest] = words;
  if (program === "bun") return [process.execPath, ...rest];
  return [program.includes("/") ? resolve(repositoryRoot, program) : program, ...rest];
}

/** An environment without variables of this process that could influence the program. */
export function cleanEnv(extra: Record<string, string> = {}): Record<string, string> {
  const env: Record<string, string> = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: process.env["HOME"] ?? tmpdir(),
    LANG: "C.UTF-8",
    ...extra,
  };
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}

/**
 * Runs `larder ARGS` to its end.
 *
 * @throws Error with its output if it runs longer than a minute; it is killed then
 */
export async function runLarder(
  args: string[],
  options: { env?: Record<string, string>; stdin?: string; cwd?: string; prefix?: string[] } = {},
): Promise<CommandResult> {
  const child = Bun.spawn([...(options.prefix ?? []), ...testCommand(), ...args], {
    cwd: options.cwd ?? repositoryRoot,
    env: cleanEnv(options.env),
    stdin: options.stdin === undefined ? "ignore" : new Blob([options.stdin]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: commandMsMax,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (child.signalCode === "SIGKILL") throw new Error(`larder ${args.join(" ")} did not end:\n${stdout}${stderr}`);
  return { code, stdout, stderr };
}

/** A server under test: its address, its data directory, its log and its responses. */
export class TestServer {
  /** Every response that a client of this server received, for the checks that hold for all of them. */
  readonly responses: RecordedResponse[] = [];
  private child: Bun.Subprocess<"ignore", "pipe", "ignore"> | undefined;
  private written = "";
  /** Resolves when the complete output of the last process is in {@link written}. */
  private collected = Promise.resolve();
  private origin = "";
  private waiters: (() => void)[] = [];
  private administrator: Promise<Account> | undefined;

  /** @param ready prepared accounts in the data directory */
  constructor(
    readonly dataDir: string,
    private options: ServerOptions,
    private readonly ready?: ReadyAccounts,
  ) {}

  /** Base address, `http://127.0.0.1:PORT`. Changes with a restart. */
  get url(): string {
    return this.origin;
  }

  /** The port of the server. */
  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** Process id of the running server. */
  get pid(): number {
    if (this.child === undefined) throw new Error("the server is not running");
    return this.child.pid;
  }

  /** Everything that the server has written to both streams, including before restarts. */
  get log(): string {
    return this.written;
  }

  /** The environment for commands on this server's data directory. */
  get commandEnv(): Record<string, string> {
    return { ...defaultEnv, ...this.options.env, LARDER_DATA: this.dataDir };
  }

  /** A client without credentials. */
  get visitor(): Client {
    return new Client(this);
  }

  /**
   * Starts the server and waits for the line with its address.
   *
   * @throws Error with its output if it ends before, or does not listen in time
   */
  async start(): Promise<void> {
    const { env = {}, args = [], prefix = [], command = "serve" } = this.options;
    const from = this.written.length;
    const words = [command, "--data", this.dataDir, "--host", "127.0.0.1", "--port", "0", ...args];
    const child = Bun.spawn([...inOneStream, ...prefix, ...testCommand(), ...words], {
      cwd: repositoryRoot,
      env: cleanEnv({ ...defaultEnv, ...env }),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    this.child = child;
    this.collected = this.collect(child.stdout);
    const deadline = setTimeout(() => child.kill("SIGKILL"), startMsMax);
    try {
      for (;;) {
        const line = /listening on (https?:\/\/\S+:\d+|unix:\S+)/.exec(this.written.slice(from));
        if (line?.[1] !== undefined) {
          this.origin = line[1];
          return;
        }
        const ended = await Promise.race([child.exited.then(() => true), this.waitForOutput().then(() => false)]);
        if (!ended) continue;
        await this.waitForLastOutput();
        throw new Error(`the server ended with ${child.exitCode}:\n${this.written.slice(from)}`);
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Sends SIGTERM and waits for the exit. Returns the exit code. Does nothing if the server is not running. */
  async stop(): Promise<number> {
    return this.end("SIGTERM");
  }

  /** Kills the server without warning, as a crash does. */
  async kill9(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** Sends a signal without waiting. */
  signal(name: NodeJS.Signals): void {
    this.child?.kill(name);
  }

  /** Waits for the process to exit. Returns the exit code. */
  async exited(): Promise<number> {
    if (this.child === undefined) return 0;
    return this.child.exited;
  }

  /** Restarts the server on the same data, with changed options if given. */
  async restart(options: ServerOptions = {}): Promise<void> {
    await this.stop();
    this.options = {
      ...this.options,
      ...options,
      env: { ...this.options.env, ...options.env },
    };
    await this.start();
  }

  /** Runs a `larder` command on this server's data directory. */
  async larder(args: string[], options: { stdin?: string; env?: Record<string, string> } = {}): Promise<CommandResult> {
    return runLarder(args, { ...options, env: { ...this.commandEnv, ...options.env } });
  }

  /** Returns a new account with a client that carries its token: a prepared one, or one created over HTTP. */
  async signUp(options: { name?: string; email?: string; password?: string } = {}): Promise<Account> {
    const { email, password, name } = options;
    const ready = email === undefined && password === undefined ? this.ready?.accounts.shift() : undefined;
    if (ready === undefined) return signUp(this, options);
    const account = await this.signIn(ready);
    if (name !== undefined) await account.client.put("/api/users/profile", { name });
    return { ...account, name: name ?? account.name };
  }

  /**
   * Returns a new account with a role, plan or quota, signed in over HTTP: a prepared one, or one created by `larder
   * user add`.
   *
   * @param flags for example `["--role", "viewer"]` or `["--admin"]`
   */
  async addUser(flags: string[]): Promise<Account> {
    const changes = changesFrom(flags);
    const ready = changes === undefined ? undefined : this.ready?.accounts.shift();
    if (ready !== undefined) {
      if (flags.length > 0) await this.change(ready.id, { ...changes });
      return this.signIn(ready);
    }
    const email = freshEmail();
    const password = "correct horse battery";
    const added = await this.larder(["user", "add", email, ...flags, "--password-stdin"], { stdin: `${password}\n` });
    if (added.code !== 0) throw new Error(`user add failed:\n${added.stdout}${added.stderr}`);
    return this.signIn({ email, password });
  }

  /**
   * Changes an account as an administrator, by PATCH /api/admin/users/{id}. Requires a server with prepared accounts.
   */
  async change(id: string, changes: Record<string, unknown>): Promise<void> {
    if (this.ready === undefined)
      throw new Error("this server has no prepared accounts, and therefore no administrator");
    this.administrator ??= this.signIn(this.ready.administrator);
    const { client, password } = await this.administrator;
    const response = await client.patch(`/api/admin/users/${id}`, { ...changes, currentPassword: password });
    if (response.status !== 200) throw new Error(`changing an account failed: ${response.status} ${response.text}`);
  }

  private async signIn({ email, password }: Pick<Account, "email" | "password">): Promise<Account> {
    const response = await this.visitor.post("/api/auth/signin", { email, password });
    if (response.status !== 200)
      throw new Error(`sign-in of a new account failed: ${response.status} ${response.text}`);
    const token = response.string("token");
    return {
      id: response.string("user.id"),
      email,
      password,
      name: response.string("user.name"),
      token,
      client: new Client(this, token),
    };
  }

  private async end(signal: NodeJS.Signals): Promise<number> {
    const child = this.child;
    if (child === undefined) return 0;
    child.kill(signal);
    const code = await child.exited;
    if (signal === "SIGTERM") await this.waitForLastOutput();
    this.child = undefined;
    return code;
  }

  /** Waits for the last output of an ended server, at most one second: a child process may hold its stream open. */
  private async waitForLastOutput(): Promise<void> {
    await Promise.race([this.collected, Bun.sleep(1_000)]);
  }

  private async waitForOutput(): Promise<void> {
    return new Promise((done) => this.waiters.push(done));
  }

  private async collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      this.written += decoder.decode(bytes, { stream: true });
      for (const done of this.waiters.splice(0)) done();
    }
  }
}

/** Creates a temporary directory. The caller removes it. */
export async function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "larder-test-"));
}

/** Converts flags of `larder user add` into the body of a PATCH; undefined if one of them has no equivalent. */
function changesFrom(flags: string[]): Record<string, unknown> | undefined {
  const changes: Record<string, unknown> = {};
  for (let at = 0; at < flags.length; at += 1) {
    const [flag = "", value = ""] = [flags[at], flags[at + 1]];
    if (flag === "--admin") {
      changes["role"] = "admin";
      continue;
    }
    if (!["--role", "--plan", "--name", "--quota"].includes(flag)) return undefined;
    if (flag === "--quota" && !/^\d+$/.test(value)) return undefined;
    changes[flag.slice(2)] = flag === "--quota" ? Number(value) : value;
    at += 1;
  }
  return changes;
}

/** Starts a server. End it with `dispose`. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  if (options.toml !== undefined) await writeFile(join(dataDir, "larder.toml"), options.toml);
  const ready =
    options.hasAccounts === true ? await copyReadyAccounts(dataDir, testCommand(), cleanEnv(defaultEnv)) : undefined;
  const server = new TestServer(dataDir, options, ready);
  await server.start();
  return server;
}

/** Kills a server and removes its data directory, unless LARDER_TEST_KEEP is set. LARDER_TEST_LOG prints its log. */
export async function dispose(server: TestServer): Promise<void> {
  await server.kill9();
  if (process.env["LARDER_TEST_LOG"] !== undefined) console.warn(server.log);
  if (process.env["LARDER_TEST_KEEP"] === undefined) await rm(server.dataDir, { recursive: true, force: true });
}

/**
 * Starts one server before all tests of a file and ends it after them.
 *
 * @returns a function, because the server exists only while the tests run
 */
export function sharedServer(options: ServerOptions = {}): () => TestServer {
  let server: TestServer | undefined;
  setDefaultTimeout(testMsMax);
  beforeAll(async () => {
    server = await startServer(options);
    // Preparing accounts may take as long as another start.
  }, 2 * startMsMax);
  afterAll(async () => {
    if (server !== undefined) await dispose(server);
  });
  return () => {
    if (server === undefined) throw new Error("the server did not start");
    return server;
  };
}

/** Starts a server, calls `use`, and ends the server even if `use` fails. */
export async function withServer<T>(options: ServerOptions, use: (server: TestServer) => Promise<T>): Promise<T> {
  const server = await startServer(options);
  try {
    return await use(server);
  } finally {
    if (options.dataDir === undefined) await dispose(server);
    else await server.kill9();
  }
}
