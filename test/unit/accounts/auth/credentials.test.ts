import { describe, expect, test } from "bun:test";
import { CLIENT, HOUR_MS, openCredentials, PASSWORD, reasonOf } from "./support.ts";

describe("a token", () => {
  test("ends with its session, even if it is cached", async () => {
    const { auth, clock } = await openCredentials();
    const checked = await auth.checkPassword("ada@example.org", PASSWORD);
    const { token } = await auth.signIn(checked, CLIENT);
    expect(await reasonOf(() => auth.identify(token))).toBe("none");
    clock.ms += 24 * HOUR_MS - 1000;
    expect(await reasonOf(() => auth.identify(token))).toBe("none");
    clock.ms += 1000;
    expect(await reasonOf(() => auth.identify(token))).toBe("expired_token");
    auth.dropCaches();
    expect(await reasonOf(() => auth.identify(token))).toBe("expired_token");
  });
});

describe("a password that was checked", () => {
  test("starts no session once the account requires a second factor", async () => {
    // The password was checked just before two-factor sign-in was switched on; it must not be enough.
    const { auth, db, user } = await openCredentials();
    const checked = await auth.checkPassword("ada@example.org", PASSWORD);
    db.sqlite.run("INSERT INTO two_factors (user_id, sealed_secret, created_at, enabled_at) VALUES (?1, x'00', 1, 1)", [
      user.id,
    ]);
    expect(await reasonOf(() => auth.signIn(checked, CLIENT))).toBe("second_factor_required");
    expect(auth.listSessions(user.id)).toEqual([]);
  });

  test("starts no session once it was replaced, or the account disabled", async () => {
    const { auth, users, user } = await openCredentials();
    const checked = await auth.checkPassword("ada@example.org", PASSWORD);
    await users.update(user.id, { isDisabled: true });
    expect(await reasonOf(() => auth.signIn(checked, CLIENT))).toBe("account_disabled");
    await users.update(user.id, { isDisabled: false, password: "another long password" });
    expect(await reasonOf(() => auth.signIn(checked, CLIENT))).toBe("bad_credentials");
  });
});

describe("a user signed in by another method", () => {
  test("needs neither password nor code, unless the account is disabled or deleted", async () => {
    const { auth, users, user } = await openCredentials();
    const { token } = await auth.signInConfirmed(user, CLIENT);
    expect((await auth.identify(token)).user.publicId).toBe(user.publicId);
    expect(await reasonOf(() => auth.signInConfirmed({ ...user, id: 99 }, CLIENT))).toBe("bad_credentials");
    await users.update(user.id, { isDisabled: true });
    expect(await reasonOf(() => auth.signInConfirmed(user, CLIENT))).toBe("account_disabled");
  });

  test("gets no session if the proof is rejected in the transaction", async () => {
    const { auth, user } = await openCredentials();
    const reject = () => {
      throw new Error("used");
    };
    await expect(auth.signInConfirmed(user, CLIENT, reject)).rejects.toThrow("used");
    expect(auth.listSessions(user.id)).toEqual([]);
  });
});

describe("an API key", () => {
  test("expires on time, even if it is cached", async () => {
    const { apiKeys, clock, user } = await openCredentials();
    const { key } = await apiKeys.add({ name: "x", expiresAtMs: clock.ms + HOUR_MS }, () => user);
    expect(apiKeys.identify(key).user.id).toBe(user.id);
    clock.ms += HOUR_MS;
    expect(await reasonOf(() => apiKeys.identify(key))).toBe("expired_token");
    apiKeys.dropCaches();
    expect(await reasonOf(() => apiKeys.identify(key))).toBe("expired_token");
    expect(apiKeys.list(user.id)).toHaveLength(1);
  });

  test("is reported as revoked for 90 days after its deletion, then as unknown", async () => {
    const { apiKeys, clock, user } = await openCredentials();
    const { key, apiKey } = await apiKeys.add({ name: "x" }, () => user);
    await apiKeys.revoke(user.id, apiKey.publicId);
    clock.ms += 90 * 24 * HOUR_MS;
    expect(await apiKeys.sweep(10)).toBe(0);
    expect(await reasonOf(() => apiKeys.identify(key))).toBe("revoked_token");
    clock.ms += 1;
    expect(await apiKeys.sweep(10)).toBe(1);
    expect(await reasonOf(() => apiKeys.identify(key))).toBe("invalid_token");
  });

  test("records its use at most once a minute", async () => {
    const { apiKeys, clock, user, writer } = await openCredentials();
    const { key } = await apiKeys.add({ name: "x" }, () => user);
    const used = async () => {
      await writer.run(() => undefined);
      return apiKeys.list(user.id)[0]?.lastUsedAtMs;
    };
    expect(await used()).toBeNull();
    apiKeys.identify(key);
    const firstMs = clock.ms;
    expect(await used()).toBe(firstMs);
    clock.ms += 59_999;
    apiKeys.identify(key);
    expect(await used()).toBe(firstMs);
    clock.ms += 1;
    apiKeys.identify(key);
    expect(await used()).toBe(clock.ms);
  });

  test("loses administrator access together with its owner", async () => {
    const { apiKeys, users } = await openCredentials();
    const input = { password: PASSWORD, role: "admin", plan: "free" } as const;
    await users.add({ ...input, email: "root@example.org" });
    const admin = await users.add({ ...input, email: "bob@example.org" });
    const { key } = await apiKeys.add({ name: "x", scopes: ["admin"] }, () => admin);
    expect(apiKeys.identify(key).user.role).toBe("admin");
    await users.update(admin.id, { role: "viewer" });
    expect(apiKeys.identify(key).user.role).toBe("viewer");
  });
});
