// Data directories that begin with accounts. A password's hash costs the server 36 ms of processor time, as it must, and most
// tests need an account but neither its sign-up nor its hash. So some accounts are made once for each build of the program, by
// signing up; then their hashes are replaced by cheap ones. A server under test begins on a copy of that directory.
import { Database } from "bun:sqlite";
import { mkdirSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { madeOnce } from "./made-once.ts";

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

const listName = "accounts.json";
/** What a new server makes by itself; the mark would tell it that its database was copied and then changed. */
const notCopied = ["snapshots", "larder.state", "larder.reserve", "larder.lock", "larder.lock-journal"];

/**
 * Fills an empty directory.
 *
 * @param command the program under test
 * @param make makes the accounts in an empty directory, and leaves no server on it
 */
export async function copyReadyAccounts(
  dataDir: string,
  command: string[],
  make: (dataDir: string) => Promise<ReadyAccounts>,
): Promise<ReadyAccounts> {
  const source = await madeOnce("ready-accounts", command, async (path) => {
    mkdirSync(path, { mode: 0o700 });
    const ready = await make(path);
    await useCheapHashes(join(path, "larder.db"), ready);
    for (const name of notCopied) rmSync(join(path, name), { recursive: true, force: true });
    await Bun.write(join(path, listName), JSON.stringify(ready));
  });
  await cp(source, dataDir, { recursive: true });
  return Bun.file(join(source, listName)).json();
}

/** Replaces every hash by one of the same password that takes next to no time to check. Ends the sessions of the sign-ups. */
async function useCheapHashes(path: string, { accounts, administrator }: ReadyAccounts): Promise<void> {
  const database = new Database(path, { strict: true });
  const setHash = database.prepare("UPDATE users SET password_hash = ?1 WHERE public_id = ?2");
  for (const { id, password } of [...accounts, administrator])
    setHash.run(await Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 }), id);
  setHash.finalize();
  database.run("DELETE FROM sessions");
  database.close();
}
