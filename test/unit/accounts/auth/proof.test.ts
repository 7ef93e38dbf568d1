// Proof is checked again in the transaction, because checking a password takes a while.
import { describe, expect, test } from "bun:test";
import type { Access } from "../../../../src/features/accounts/auth/guard.ts";
import { type GivenProof, ProofService } from "../../../../src/features/accounts/auth/proof.ts";
import { CLIENT, HOUR_MS, openCredentials, PASSWORD, reasonOf } from "./support.ts";

const MINUTE_MS = 60_000;

/** Signs in one of two administrators. */
async function open(access: Access = "self") {
  const opened = await openCredentials();
  const { auth, users, writer, twoFactor, user } = opened;
  await users.add({ email: "root@example.org", password: PASSWORD, role: "admin", plan: "free" });
  await users.update(user.id, { role: "admin" });
  const { token } = await auth.signIn(await auth.checkPassword(user.email, PASSWORD), CLIENT);
  const principal = await auth.identify(token);
  const proof = new ProofService({
    writer,
    users,
    auth,
    // Limits of attempts are tested elsewhere.
    rateGate: { guardPassword: (_request, _headers, _email, check) => check() },
    hasPasskeys: () => false,
    isLinked: () => true,
    hasSecondFactor: (id) => twoFactor.methodsOf(id).length > 0,
  });
  const contextOf = <Body extends GivenProof>(body: Body) => ({
    request: new Request("http://larder.test"),
    set: { headers: {} },
    principal,
    body,
  });
  const require = (given: GivenProof) => proof.require(access, contextOf(given));
  const confirm = () => proof.confirm(access, contextOf({ currentPassword: PASSWORD }));
  /** Why the transaction rejects a proof given before `change`; the user if it doesn't. */
  const rejectionAfter = async (given: GivenProof, change: () => unknown): Promise<unknown> => {
    const checkProof = await require(given);
    await change();
    return reasonOf(() => writer.run((tx) => void checkProof(tx)));
  };
  return { ...opened, proof, require, confirm, principal, rejectionAfter };
}

const ways: [string, boolean][] = [
  ["a password in the call", false],
  ["a confirmed session", true],
];

describe.each(ways)("by %s", (_way, isConfirmed) => {
  const begin = async (access?: Access) => {
    const opened = await open(access);
    if (isConfirmed) await opened.confirm();
    const given = isConfirmed ? {} : { currentPassword: PASSWORD };
    return { ...opened, rejectionAfter: (change: () => unknown) => opened.rejectionAfter(given, change) };
  };

  test("it is valid if nothing changes, and returns the user", async () => {
    const { rejectionAfter, users, user } = await begin();
    expect(await rejectionAfter(() => users.update(user.id, { name: "Grace" }))).toBe("none");
  });

  test("it ends with the session", async () => {
    const { rejectionAfter, auth, principal } = await begin();
    expect(await rejectionAfter(() => auth.signOut(principal, false))).toBe("revoked_token");
  });

  test("it ends when the account is disabled", async () => {
    const { rejectionAfter, users, user } = await begin();
    expect(await rejectionAfter(() => users.update(user.id, { isDisabled: true }))).toBe("revoked_token");
  });

  test("it is rejected for a former administrator, and for a viewer's write", async () => {
    for (const [access, role] of [
      ["admin", "user"],
      ["writer", "viewer"],
    ] as const) {
      const { rejectionAfter, users, user } = await begin(access);
      expect(await rejectionAfter(() => users.update(user.id, { role }))).toBe("role");
    }
  });
});

describe("a confirmation", () => {
  test("is valid for ten minutes, and ends if the clock is set back", async () => {
    const { require, confirm, auth, clock, principal } = await open();
    await confirm();
    clock.ms += 10 * MINUTE_MS - 1;
    expect(await reasonOf(() => require({}))).toBe("none");
    clock.ms += 1;
    expect(await reasonOf(() => require({}))).toBe("password_required");
    await confirm();
    clock.ms -= HOUR_MS;
    expect(auth.confirmedUntil(principal.session)).toBeUndefined();
  });

  test("that expires before the transaction proves nothing", async () => {
    const { confirm, rejectionAfter, clock, auth, writer, user } = await open();
    await confirm();
    expect(await rejectionAfter({}, () => void (clock.ms += 10 * MINUTE_MS))).toBe("password_required");
    await confirm();
    expect(await rejectionAfter({}, () => writer.run((tx) => auth.endConfirmations(tx, user.id)))).toBe(
      "password_required",
    );
  });
});

describe("a password", () => {
  test("that was replaced while it was checked proves nothing", async () => {
    const { rejectionAfter, users, user } = await open();
    const given = { currentPassword: PASSWORD };
    expect(await rejectionAfter(given, () => users.update(user.id, { password: "another long password" }))).toBe(
      "bad_credentials",
    );
  });

  test("is not enough once a second factor is switched on", async () => {
    const { rejectionAfter, db, user } = await open();
    const switchOn = () =>
      db.sqlite.run(
        "INSERT INTO two_factors (user_id, sealed_secret, created_at, enabled_at) VALUES (?1, x'00', 1, 1)",
        [user.id],
      );
    expect(await rejectionAfter({ currentPassword: PASSWORD }, switchOn)).toBe("second_factor_required");
  });

  test("that is unknown leaves the provider as the only method", async () => {
    const { proof, users, user } = await open();
    expect(proof.methodsOf(user)).toEqual(["password"]);
    const made = await users.add({ email: "new@example.org", password: undefined, role: "user", plan: "free" });
    expect(proof.methodsOf(made)).toEqual(["provider"]);
    await users.update(made.id, { password: "a password of my own" });
    expect(proof.methodsOf(made)).toEqual(["password"]);
  });
});
