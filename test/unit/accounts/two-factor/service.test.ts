import { describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { openSecret, sealSecret } from "../../../../src/features/accounts/two-factor/sealed-secret.ts";
import { HOUR_MS, openCredentials, reasonOf } from "../auth/support.ts";

const STEP_MS = 30_000;
/** Callers check the proof. */
const checkProof = () => undefined;

async function setUp() {
  const opened = await openCredentials();
  const { twoFactor, user, clock } = opened;
  const { secret } = await twoFactor.setUp(user, checkProof);
  const codeAt = (steps: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.ms + steps * STEP_MS });
  const use = (code: string) => reasonOf(() => twoFactor.use(user.id, code));
  return { ...opened, codeAt, use };
}

describe("a code", () => {
  test("is valid from one step before its time to one after it, once (RFC 6238 §5.2)", async () => {
    const { twoFactor, user, clock, codeAt, use } = await setUp();
    await twoFactor.enable(user, codeAt(0), checkProof);
    clock.ms += 10 * STEP_MS;
    expect(await use(codeAt(-2))).toBe("invalid_code");
    expect(await use(codeAt(2))).toBe("invalid_code");
    for (const steps of [-1, 0, 1]) expect([steps, await use(codeAt(steps))]).toEqual([steps, "none"]);
    for (const steps of [-1, 0, 1]) expect([steps, await use(codeAt(steps))]).toEqual([steps, "invalid_code"]);
    clock.ms += 2 * STEP_MS;
    expect(await use(codeAt(0))).toBe("none");
  });

  test("used to switch it on can't be used again to sign in", async () => {
    const { twoFactor, user, codeAt, use } = await setUp();
    await twoFactor.enable(user, codeAt(0), checkProof);
    expect(await use(codeAt(0))).toBe("invalid_code");
  });

  test("is rejected before it is switched on, and after it is switched off", async () => {
    const { twoFactor, user, clock, codeAt, use, emitted } = await setUp();
    expect(await use(codeAt(0))).toBe("invalid_code");
    const [code = ""] = await twoFactor.enable(user, codeAt(0), checkProof);
    clock.ms += STEP_MS;
    await twoFactor.switchOff(user, checkProof);
    expect(await use(codeAt(0))).toBe("invalid_code");
    expect(await use(code)).toBe("invalid_code");
    expect(emitted).toEqual(["two_factor_on", "two_factor_off"]);
  });

  test("is rejected after twenty wrong ones for an hour", async () => {
    const { twoFactor, user, clock, codeAt, use } = await setUp();
    await twoFactor.enable(user, codeAt(0), checkProof);
    clock.ms += 10 * STEP_MS;
    for (let i = 0; i < 20; i++) expect(await use("no code")).toBe("invalid_code");
    expect(await use(codeAt(0))).toBe("rate_limited");
    clock.ms += HOUR_MS;
    expect(await use(codeAt(0))).toBe("none");
  });

  test("can be tried twenty times, even concurrently", async () => {
    // All attempts that arrived before the first result were once accepted.
    const { twoFactor, user, codeAt, use } = await setUp();
    await twoFactor.enable(user, codeAt(0), checkProof);
    const reasons = await Promise.all(Array.from({ length: 30 }, () => use("no code")));
    expect(reasons.filter((reason) => reason === "invalid_code")).toHaveLength(20);
    expect(reasons.filter((reason) => reason === "rate_limited")).toHaveLength(10);
  });

  test("is accepted after the clock was set back behind twenty wrong ones", async () => {
    const { twoFactor, user, clock, codeAt, use } = await setUp();
    await twoFactor.enable(user, codeAt(0), checkProof);
    clock.ms += 24 * HOUR_MS;
    for (let i = 0; i < 20; i++) expect(await use("no code")).toBe("invalid_code");
    clock.ms -= 24 * HOUR_MS;
    expect(await use(codeAt(1))).toBe("none");
  });
});

describe("a setup", () => {
  test("must be completed within an hour", async () => {
    const { twoFactor, user, clock, codeAt } = await setUp();
    clock.ms += HOUR_MS;
    expect(await reasonOf(() => twoFactor.enable(user, codeAt(0), checkProof))).toBe("invalid_request");
    expect(twoFactor.methodsOf(user.id)).toEqual([]);
  });
});

describe("the server's key", () => {
  test("opens what it sealed, for that account only", () => {
    const [key, other] = [crypto.getRandomValues(new Uint8Array(32)), crypto.getRandomValues(new Uint8Array(32))];
    const secret = crypto.getRandomValues(new Uint8Array(20));
    const sealed = sealSecret(key, 7, secret);
    expect(Buffer.from(openSecret(key, 7, sealed) ?? [])).toEqual(Buffer.from(secret));
    expect(openSecret(key, 8, sealed)).toBeUndefined();
    expect(openSecret(other, 7, sealed)).toBeUndefined();
    expect(openSecret(key, 7, sealed.subarray(0, 20))).toBeUndefined();
    const bent = Buffer.from(sealed);
    bent[bent.length - 1] = (bent.at(-1) ?? 0) ^ 1;
    expect(openSecret(key, 7, bent)).toBeUndefined();
    expect(sealSecret(key, 7, secret).equals(sealed)).toBe(false);
  });

  test("after its loss recovery codes still work", async () => {
    const { twoFactor, openTwoFactor, user, clock, codeAt } = await setUp();
    const [recovery = ""] = await twoFactor.enable(user, codeAt(0), checkProof);
    clock.ms += STEP_MS;
    const after = openTwoFactor(crypto.getRandomValues(new Uint8Array(32)));
    expect(after.methodsOf(user.id)).toEqual(["totp", "recovery_code"]);
    expect(await reasonOf(() => after.use(user.id, codeAt(0)))).toBe("invalid_code");
    expect(await reasonOf(() => after.use(user.id, recovery))).toBe("none");
  });
});
