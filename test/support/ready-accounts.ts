// Data directories that begin with accounts. A password's hash costs the server 36 ms of processor time, as it must, and most
// tests need an account but neither its sign-up nor its hash. So some accounts are made once for each build of the program, by
// the services of the source and with cheap hashes. A server under test begins on a copy of that directory.
import { mkdirSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { buildOnce } from "./build-once.ts";

/** An account whose password is known. */
export interface ReadyAccount {
  id: string;
  email: string;
  password: string;
}

/** What a data directory with accounts begins with. */
export interface ReadyAccounts {
  /** Those that tests take, one after the other. */
  accounts: ReadyAccount[];
  /** An administrator, who gives taken accounts their role, plan and quota. */
  administrator: ReadyAccount;
}

const LIST_NAME = "accounts.json";
/** What a new server makes by itself; the mark would tell it that its database was copied and then changed. */
const NOT_COPIED = ["snapshots", "larder.state", "larder.reserve", "larder.lock", "larder.lock-journal"];

/**
 * Fills an empty directory.
 *
 * @param command the program under test
 * @param environment its settings: accounts get the default plan
 */
export async function copyReadyAccounts(
  dataDir: string,
  command: string[],
  environment: Record<string, string>,
): Promise<ReadyAccounts> {
  const source = await buildOnce("ready-accounts", command, async (path) => {
    mkdirSync(path, { mode: 0o700 });
    // A process of its own: it loads the whole source, which no other test needs.
    const maker = Bun.spawnSync([process.execPath, join(import.meta.dir, "make-accounts.ts"), path], {
      env: environment,
    });
    if (!maker.success) throw new Error(`no accounts were made:\n${maker.stderr.toString()}`);
    for (const name of NOT_COPIED) rmSync(join(path, name), { recursive: true, force: true });
    await Bun.write(join(path, LIST_NAME), maker.stdout);
  });
  await cp(source, dataDir, { recursive: true });
  return Bun.file(join(source, LIST_NAME)).json();
}
