// A folder on a computer that the command-line form of the Nextcloud or ownCloud desktop client syncs.
import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryDirectory, type TestServer } from "../../support/server.ts";
import type { ClientAccount } from "./account.ts";
import { type Ran, runProgram, startProgram } from "./programs.ts";

/** The programs that sync a folder. */
export const SYNC_PROGRAMS = ["nextcloudcmd", "owncloudcmd"] as const;

/** The name of such a program. */
export type SyncProgram = (typeof SYNC_PROGRAMS)[number];

/** An entry of a local folder. */
export interface LocalEntry {
  /** SHA-256 of a file in hex; "folder" for a folder. */
  content: string;
  /** The modification time in seconds; 0 for a folder, whose time no client syncs. */
  seconds: number;
}

/** Everything in a local folder: path → entry. */
export type LocalTree = Map<string, LocalEntry>;

const CHUNK_BYTES = 200_000;

/** Variables that make the programs send files in chunks of 200 kB, one after another. See {@link SyncedFolder.env}. */
export const SMALL_CHUNKS = {
  OWNCLOUD_CHUNK_SIZE: String(CHUNK_BYTES),
  OWNCLOUD_MIN_CHUNK_SIZE: String(CHUNK_BYTES),
  OWNCLOUD_MAX_CHUNK_SIZE: String(CHUNK_BYTES),
  OWNCLOUD_MAX_PARALLEL: "1",
};

/** Files that the programs keep in the folder: their database, their log, and parts of downloads that were killed. */
const OWN_FILES = /^\.(?:_?sync_|sync-exclude|owncloudsync|nextcloudsync)|\.~[\da-f]+$/;

/** A folder on one computer, and the program that syncs it with an account. */
export class SyncedFolder {
  private constructor(
    readonly program: SyncProgram,
    private readonly server: TestServer,
    private readonly account: ClientAccount,
    /** A directory with the folder, the program's home, and its list of names that it ignores. */
    private readonly directory: string,
  ) {}

  /** Further variables of the program, such as the size of chunks. */
  env: Record<string, string> = {};

  /** The synced folder. */
  get path(): string {
    return join(this.directory, "files");
  }

  /** Creates an empty folder. */
  static async create(program: SyncProgram, server: TestServer, account: ClientAccount): Promise<SyncedFolder> {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "files"));
    await mkdir(join(directory, "home"));
    // Without a list, owncloudcmd ends at once.
    await writeFile(join(directory, "exclude.lst"), "]*.~*\n");
    return new SyncedFolder(program, server, account, directory);
  }

  /** Syncs once. @throws Error with the output if the program reports an error */
  async sync(): Promise<string> {
    const { code, output } = await this.trySync();
    if (code !== 0) {
      const causes = output.split("\n").filter((line) => /Could not complete|replied|Error/.test(line));
      throw new Error(`${this.program} ended with ${code}:\n${causes.join("\n").slice(-5000)}`);
    }
    return output;
  }

  /** Syncs once, with any result. @param password instead of the account's app password */
  async trySync(password = this.account.password): Promise<Ran> {
    return runProgram(this.words(password), { home: join(this.directory, "home"), env: this.env });
  }

  /** Starts a sync without waiting for its end. */
  start() {
    return startProgram(this.words(this.account.password), join(this.directory, "home"), this.env);
  }

  /** Writes a file, with a modification time if given. */
  async write(path: string, content: string | Uint8Array, modified?: Date): Promise<void> {
    const full = join(this.path, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, content);
    if (modified !== undefined) await utimes(full, modified, modified);
  }

  async read(path: string): Promise<string> {
    return readFile(join(this.path, path), "utf8");
  }

  async remove(path: string): Promise<void> {
    await rm(join(this.path, path), { recursive: true });
  }

  /** Makes the program try again at once what has failed. Otherwise it waits 25 seconds, and longer each time. */
  async forgetFailures(): Promise<void> {
    const names = await readdir(this.path);
    const name = names.find((candidate) => /^\._?sync_.*\.db$/.test(candidate));
    // Before the first sync.
    if (name === undefined) return;
    const database = new Database(join(this.path, name));
    database.run("DELETE FROM blacklist");
    database.close();
  }

  /** Reads everything in the folder, except the program's own files. */
  async tree(): Promise<LocalTree> {
    const tree: LocalTree = new Map();
    for (const entry of await readdir(this.path, { recursive: true, withFileTypes: true })) {
      const full = join(entry.parentPath, entry.name);
      const path = full.slice(this.path.length + 1);
      if (OWN_FILES.test(path)) continue;
      if (entry.isDirectory()) tree.set(path, { content: "folder", seconds: 0 });
      else
        tree.set(path, { content: await digestOfFile(full), seconds: Math.floor((await stat(full)).mtimeMs / 1000) });
    }
    return new Map([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Removes the folder and the program's home. */
  async dispose(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  private words(password: string): string[] {
    const { user, basePath = "" } = this.account;
    const exclude = ["--exclude", join(this.directory, "exclude.lst")];
    // The server's own path of the program: the root of the account.
    const remote = this.program === "nextcloudcmd" ? ["--path", "/"] : [];
    // -h: also files whose names begin with a dot.
    const options = ["--non-interactive", "-h", ...exclude, "--user", user, "--password", password, ...remote];
    return [this.program, ...options, this.path, this.server.url + basePath];
  }
}

async function digestOfFile(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}
