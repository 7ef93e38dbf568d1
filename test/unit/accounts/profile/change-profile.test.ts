import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { EventOf } from "../../../../src/events/catalogue.ts";
import { Events } from "../../../../src/events/events.ts";
import { PasswordHasher } from "../../../../src/features/accounts/users/passwords.ts";
import type { Principal } from "../../../../src/features/accounts/auth/principal.ts";
import { changeProfile } from "../../../../src/features/accounts/profile/change-profile.ts";
import { UserService } from "../../../../src/features/accounts/users/service.ts";
import { TestTree } from "../../tree/support.ts";

let tree: TestTree;
let principal: Principal;
let services: Parameters<typeof changeProfile>[0];
let emitted: EventOf<"security.credentials_changed">[];

beforeEach(async () => {
  tree = new TestTree();
  const events = new Events();
  const users = new UserService({
    db: tree.db,
    writer: tree.writer,
    clock: tree.clock,
    passwords: new PasswordHasher({ memoryCost: 8, timeCost: 1 }),
    events,
    createRoot: (tx, accountId) => tree.write.createAccountRoot(tx, accountId),
  });
  emitted = [];
  events.on("security.credentials_changed", (_tx, event) => void emitted.push(event));
  const auth = { endSessions: () => {} };
  services = { users, auth, credentialRevoker: { revokeAll: () => {} }, events };
  const user = await users.add({ email: "a@example.com", password: "correct horse", role: "user", plan: "free" });
  const session = {
    publicId: "ses_1",
    originId: "ses_1",
    kind: "web",
    createdAtMs: 0,
    expiresAtMs: 0,
    lastSeenAtMs: 0,
  } as const;
  principal = { user, session: { ...session, userAgent: null, clientAddress: null } };
});

afterEach(() => tree.close());

describe("security.credentials_changed", () => {
  test("is emitted for password and email, with the device that changed it", async () => {
    const accountId = principal.user.id;
    await changeProfile(services, principal, { newPassword: "another horse" });
    expect(emitted.splice(0)).toEqual([{ accountId, what: "password", deviceId: null }]);
    const viaDevice = { ...principal, user: { ...principal.user, viaDeviceId: 7 } };
    await changeProfile(services, viaDevice, { email: "b@example.com", newPassword: "a third horse" });
    expect(emitted.map(({ what, deviceId }) => [what, deviceId])).toEqual([
      ["password", 7],
      ["email", 7],
    ]);
  });

  test("is not emitted for a name, for the same email, or for a rejected change", async () => {
    await changeProfile(services, principal, { name: "B" });
    await changeProfile(services, principal, { email: principal.user.email });
    await services.users.add({ email: "b@example.com", password: "correct horse", role: "user", plan: "free" });
    await expect(changeProfile(services, principal, { email: "b@example.com" })).rejects.toThrow("email");
    expect(emitted).toEqual([]);
  });
});
