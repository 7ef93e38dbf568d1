// Data directories that start with accounts. A password hash costs the server 36 ms of processor time on purpose, but
// most tests need neither a sign-up nor a real hash. Accounts with cheap hashes are therefore created once for each
// build of the program, by the services of the source. A server under test starts with a copy of that directory.
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

/** The accounts in a prepared data directory. */
export interface ReadyAccounts {
  /** Accounts for tests, used one after the other. */
  accounts: ReadyAccount[];
  /** An administrator, who sets the role, plan and quota of these accounts. */
  administrator: ReadyAccount;
}

const LIST_NAME = "accounts.json";
/**
 * Files that each server creates itself. From a copied `larder.state`, it would conclude that its database was
 * restored.
 */
const NOT_COPIED = ["snapshots", "larder.state", "larder.reserve", "larder.lock", "larder.lock-journal"];

/**
 * Copies the prepared accounts into an empty directory.
 *
 * @param command the program under test
 * @param environment its settings; the accounts get its default plan
 */
export async function copyReadyAccounts(
  dataDir: string,
  command: string[],
  environment: Record<string, string>,
): Promise<ReadyAccounts> {
  const source = await buildOnce("ready-accounts", command, async (path) => {
    mkdirSync(path, { mode: 0o700 });
    // In a separate process, because it loads the whole source, which no other test needs.
    const creator = Bun.spawnSync([process.execPath, join(import.meta.dir, "make-accounts.ts"), path], {
      env: environment,
    });
    if (!creator.success) throw new Error(`no accounts were created:\n${creator.stderr.toString()}`);
    for (const name of NOT_COPIED) rmSync(join(path, name), { recursive: true, force: true });
    await Bun.write(join(path, LIST_NAME), creator.stdout);
  });
  await cp(source, dataDir, { recursive: true });
  return Bun.file(join(source, LIST_NAME)).json();
}
