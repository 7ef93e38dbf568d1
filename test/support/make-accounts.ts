// Creates accounts in an empty data directory and prints them as JSON. Their password hashes are cheap to check.
// Usage: bun test/support/make-accounts.ts DIRECTORY, with the settings as environment variables.
import { loadConfig } from "../../src/config/load.ts";
import { PasswordHasher } from "../../src/features/accounts/users/passwords.ts";
import { silentLog } from "../../src/lib/log.ts";
import { openServices } from "../../src/server/composition/services.ts";
import { freshEmail } from "./client.ts";
import type { ReadyAccount } from "./ready-accounts.ts";

/** Enough for the test file that uses the most accounts. */
const READY_COUNT = 112;

PasswordHasher.prototype.hash = (password) =>
  Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
const [, , data = ""] = process.argv;
const loaded = loadConfig({ flags: { data }, environment: process.env });
const services = await openServices(loaded, silentLog);

async function add(name: string, role: "admin" | "user"): Promise<ReadyAccount> {
  const [email, password] = [freshEmail(), "correct horse battery"];
  const { publicId } = await services.users.add({ email, password, name, role, plan: services.config.defaultPlan });
  return { id: publicId, email, password };
}

const administrator = await add("Administrator", "admin");
const accounts = await Promise.all(Array.from({ length: READY_COUNT }, () => add("Test User", "user")));
// Otherwise each server that starts with these accounts writes an object for every one of them when it first stops.
await services.storeJournal.flush();
await services.close();
console.log(JSON.stringify({ administrator, accounts }));
