import { migrate } from "../../../../src/db/migrate.ts";
import { openDatabase } from "../../../../src/db/open.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import type { EventOf } from "../../../../src/events/catalogue.ts";
import { Events } from "../../../../src/events/events.ts";
import { ApiKeyService } from "../../../../src/features/accounts/api-keys/service.ts";
import { PasswordHasher } from "../../../../src/features/accounts/users/passwords.ts";
import { AuthService } from "../../../../src/features/accounts/auth/service.ts";
import { TokenSigner } from "../../../../src/features/accounts/auth/tokens.ts";
import { PasskeyService } from "../../../../src/features/accounts/passkeys/service.ts";
import { TwoFactorService } from "../../../../src/features/accounts/two-factor/service.ts";
import { UserService } from "../../../../src/features/accounts/users/service.ts";
import { silentLog } from "../../../../src/lib/log.ts";

/** An hour in milliseconds. */
export const HOUR_MS = 60 * 60 * 1000;

/** The client of all sign-ins. */
export const CLIENT = { address: "192.0.2.1", userAgent: undefined };

/** The password of the account. */
export const PASSWORD = "correct horse battery";

/** Opens the sign-in services on an empty database with one account, and a clock that tests can set. */
export async function openCredentials() {
  const db = openDatabase(":memory:");
  migrate(db.sqlite, silentLog);
  const writer = new Writer(db.sqlite, silentLog);
  const clock = { ms: Date.UTC(2026, 0, 1), nowMs: () => clock.ms };
  const events = new Events();
  const emitted: EventOf<"security.credentials_changed">["what"][] = [];
  events.on("security.credentials_changed", (_tx, { what }) => void emitted.push(what));
  const passwords = new PasswordHasher({ memoryCost: 8, timeCost: 1 });
  const users = new UserService({ db, writer, clock, passwords, events, createRoot: () => 1 });
  const { sqlite } = db;
  const passkeys = new PasskeyService({ sqlite, writer, clock, events, users });
  const key = crypto.getRandomValues(new Uint8Array(32));
  const openTwoFactor = (by: Uint8Array) =>
    new TwoFactorService({
      sqlite,
      writer,
      clock,
      events,
      key: by,
      hasPasskeys: () => false,
      isSignedInFrom: () => false,
    });
  const twoFactor = openTwoFactor(key);
  const apiKeys = new ApiKeyService({ sqlite, writer, clock, users, events });
  const auth = new AuthService({
    db,
    writer,
    clock,
    users,
    passwords,
    tokens: new TokenSigner({ kid: "test", secret: crypto.getRandomValues(new Uint8Array(32)) }),
    secondFactors: twoFactor,
    tokenLifetimeMs: 24 * HOUR_MS,
    config: { signup: "open", defaultPlan: "free" },
  });
  const user = await users.add({ email: "ada@example.org", password: PASSWORD, role: "user", plan: "free" });
  return { db, writer, clock, users, passkeys, twoFactor, openTwoFactor, apiKeys, auth, user, emitted };
}

/** The reason of the rejection; `none` if the call succeeds. */
export async function reasonOf(attempt: () => unknown): Promise<unknown> {
  try {
    await attempt();
    return "none";
  } catch (error) {
    return Reflect.get(Object(error), "reason");
  }
}
