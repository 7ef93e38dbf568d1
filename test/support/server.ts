// Starts the program under test as a process of its own, in a data directory of its own, and stops it again.
// LARDER_TEST_COMMAND says what is started (default: the source); nothing here knows how it is built.
import { afterAll, beforeAll, setDefaultTimeout } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Account, Client, type RecordedResponse, freshEmail, signUp } from "./client.ts";
import { copyReadyAccounts, type ReadyAccounts } from "./ready-accounts.ts";

/** Root of the checkout: the program is started there. */
export const repositoryRoot = resolve(import.meta.dir, "../..");

/** What a finished command left: exit code and all that it wrote. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** How a server under test differs from the default one. */
export interface ServerOptions {
  /** Added to the environment; an empty string removes a default. */
  env?: Record<string, string>;
  /** Flags after `serve`, beside --data, --host and --port. */
  args?: string[];
  /** An existing data directory; without it a temporary one is made, and removed at the end. */
  dataDir?: string;
  /** Content of larder.toml in the data directory. */
  toml?: string;
  /**
   * Whether it begins with accounts that `signUp` and `addUser` hand out, which spares the making of each. Not for tests of
   * signing up, of passwords, or of all accounts of a server. With the default plan of {@link defaultEnv} alone.
   */
  hasAccounts?: boolean;
  /** Words before the command, for instance another user's: `["setpriv", "--reuid=65534"]`. */
  prefix?: string[];
}

/** How long a start may take before the test gives up, in milliseconds: generous, for a machine that does much else. */
const startMsMax = 60_000;

/** How long a command may take before the test gives up, in milliseconds. */
const commandMsMax = 60_000;

/** How long a test may take: many start processes, and five seconds are too few on a machine that does much else. */
const testMsMax = 120_000;

setDefaultTimeout(testMsMax);

const defaultEnv: Record<string, string> = {
  LARDER_RATE_LIMITS: "off",
  LARDER_DEFAULT_PLAN: "enterprise",
};

/** Put before a command, makes it write its log where it writes the rest: what came first is then read first. */
const inOneStream = ["sh", "-c", 'exec "$@" 2>&1', "sh"];

/** The words of the command under test, an absolute program first. */
export function testCommand(): string[] {
  const words = (process.env["LARDER_TEST_COMMAND"] ?? "bun src/main.ts").split(/\s+/).filter((word) => word !== "");
  const [program = "bun", ...rest] = words;
  if (program === "bun") return [process.execPath, ...rest];
  return [program.includes("/") ? resolve(repositoryRoot, program) : program, ...rest];
}

/** An environment without anything of the surrounding one that could change the program. */
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
 * @throws when it runs longer than a minute (it is killed then); the message carries what it wrote
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

/** A running server: where it listens, where its data lies, what it wrote and answered. */
export class TestServer {
  /** Every answer that a client of this server received, for the checks that hold for all of them. */
  readonly responses: RecordedResponse[] = [];
  private child: Bun.Subprocess<"ignore", "pipe", "ignore"> | undefined;
  private written = "";
  /** Resolves when all that the last one started had to say is in {@link written}. */
  private collected = Promise.resolve();
  private origin = "";
  private waiters: (() => void)[] = [];
  private administrator: Promise<Account> | undefined;

  /** @param ready accounts that are there already */
  constructor(
    readonly dataDir: string,
    private options: ServerOptions,
    private readonly ready?: ReadyAccounts,
  ) {}

  /** Base address, `http://127.0.0.1:PORT`. Changes with a restart. */
  get url(): string {
    return this.origin;
  }

  /** Port it listens on. */
  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** Process id of the running server. */
  get pid(): number {
    if (this.child === undefined) throw new Error("the server is not running");
    return this.child.pid;
  }

  /** All that the server wrote so far, over restarts, both streams. */
  get log(): string {
    return this.written;
  }

  /** The environment of a command on this server's data directory. */
  get commandEnv(): Record<string, string> {
    return { ...defaultEnv, ...this.options.env, LARDER_DATA: this.dataDir };
  }

  /** A client without credentials. */
  get visitor(): Client {
    return new Client(this);
  }

  /**
   * Starts it and waits for the line that says where it listens.
   *
   * @throws when it ends before, or says nothing in time; the message carries what it wrote
   */
  async start(): Promise<void> {
    const { env = {}, args = [], prefix = [] } = this.options;
    const from = this.written.length;
    const words = ["serve", "--data", this.dataDir, "--host", "127.0.0.1", "--port", "0", ...args];
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
        const ended = await Promise.race([child.exited.then(() => true), this.moreWritten().then(() => false)]);
        if (!ended) continue;
        await this.lastWords();
        throw new Error(`the server ended with ${child.exitCode}:\n${this.written.slice(from)}`);
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Sends SIGTERM and waits for the end. Returns the exit code. Harmless when it is not running. */
  async stop(): Promise<number> {
    return this.end("SIGTERM");
  }

  /** Kills it without warning, as a crash would. */
  async kill9(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** Sends a signal and does not wait. */
  signal(name: NodeJS.Signals): void {
    this.child?.kill(name);
  }

  /** Resolves with the exit code when the process is gone. */
  async exited(): Promise<number> {
    if (this.child === undefined) return 0;
    return this.child.exited;
  }

  /** Stops it (if it runs) and starts it again on the same data, with other options where given. */
  async restart(options: ServerOptions = {}): Promise<void> {
    await this.stop();
    this.options = {
      ...this.options,
      ...options,
      env: { ...this.options.env, ...options.env },
    };
    await this.start();
  }

  /** Runs a command of the same program on this server's data directory. */
  async larder(args: string[], options: { stdin?: string; env?: Record<string, string> } = {}): Promise<CommandResult> {
    return runLarder(args, { ...options, env: { ...this.commandEnv, ...options.env } });
  }

  /** An account that nobody has used, made over HTTP where none is ready, with a client that carries its token. */
  async signUp(options: { name?: string; email?: string; password?: string } = {}): Promise<Account> {
    const { email, password, name } = options;
    const ready = email === undefined && password === undefined ? this.ready?.accounts.shift() : undefined;
    if (ready === undefined) return signUp(this, options);
    const account = await this.signIn(ready);
    if (name !== undefined) await account.client.put("/api/users/profile", { name });
    return { ...account, name: name ?? account.name };
  }

  /**
   * A new account with a role, plan or quota, signed in over HTTP: by `larder user add`, or one that is ready.
   *
   * @param flags for instance `["--role", "viewer"]` or `["--admin"]`
   */
  async addUser(flags: string[]): Promise<Account> {
    const changes = changesOf(flags);
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

  /** Has an administrator change an account: the body of PATCH /api/admin/users/{id}. For a server that has accounts. */
  async change(id: string, changes: Record<string, unknown>): Promise<void> {
    if (this.ready === undefined) throw new Error("this server began without accounts, and has no administrator");
    this.administrator ??= this.signIn(this.ready.administrator);
    const { client, password } = await this.administrator;
    const response = await client.patch(`/api/admin/users/${id}`, { ...changes, currentPassword: password });
    if (response.status !== 200) throw new Error(`an account was not changed: ${response.status} ${response.text}`);
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
    if (signal === "SIGTERM") await this.lastWords();
    this.child = undefined;
    return code;
  }

  /** Waits for what an ended server wrote last; not for ever, because a process that it began may still have its stream. */
  private async lastWords(): Promise<void> {
    await Promise.race([this.collected, Bun.sleep(1_000)]);
  }

  private async moreWritten(): Promise<void> {
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

/** A fresh temporary directory; the caller removes it. */
export async function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "larder-test-"));
}

/** What `flags` of `larder user add` are as a change of an account; undefined where one of them can't be said so. */
function changesOf(flags: string[]): Record<string, unknown> | undefined {
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

/** A started server; end it with `dispose`. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  if (options.toml !== undefined) await writeFile(join(dataDir, "larder.toml"), options.toml);
  const ready =
    options.hasAccounts === true ? await copyReadyAccounts(dataDir, testCommand(), cleanEnv(defaultEnv)) : undefined;
  const server = new TestServer(dataDir, options, ready);
  await server.start();
  return server;
}

/** Ends a server hard and removes its data directory (kept where LARDER_TEST_KEEP is set; LARDER_TEST_LOG shows what it wrote). */
export async function dispose(server: TestServer): Promise<void> {
  await server.kill9();
  if (process.env["LARDER_TEST_LOG"] !== undefined) console.warn(server.log);
  if (process.env["LARDER_TEST_KEEP"] === undefined) await rm(server.dataDir, { recursive: true, force: true });
}

/**
 * One server for all tests of a file: started before them, ended after them.
 *
 * @returns a function, because the server exists only once the tests run
 */
export function sharedServer(options: ServerOptions = {}): () => TestServer {
  let server: TestServer | undefined;
  setDefaultTimeout(testMsMax);
  beforeAll(async () => {
    server = await startServer(options);
    // Making accounts takes as long as a start again.
  }, 2 * startMsMax);
  afterAll(async () => {
    if (server !== undefined) await dispose(server);
  });
  return () => {
    if (server === undefined) throw new Error("the server did not start");
    return server;
  };
}

/** Starts a server for the length of `use`, and ends it whatever happens. */
export async function withServer<T>(options: ServerOptions, use: (server: TestServer) => Promise<T>): Promise<T> {
  const server = await startServer(options);
  try {
    return await use(server);
  } finally {
    if (options.dataDir === undefined) await dispose(server);
    else await server.kill9();
  }
}
