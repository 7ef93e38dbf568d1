import { beforeAll, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Account, Client, freshEmail, signUp } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { eventually, expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice, tryRefresh } from "../support/mobile.ts";
import { asObject } from "../support/openapi.ts";
import { shareWith } from "../support/account-shares.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const password = "correct horse battery";

let admin: Account;

beforeAll(async () => {
  admin = await server().addUser(["--admin"]);
});

const entries = async (query: string, client = admin.client) =>
  (await client.get(`/api/admin/audit?limit=100&${query}`)).list("data.entries").map((entry) => asObject(entry) ?? {});
/** The newest entry of an action for an account. */
const newest = async (user: string, action: string) => (await entries(`user=${user}&action=${action}`))[0] ?? {};
const signIn = (email: string, given = password) =>
  server().visitor.post("/api/auth/signin", { email, password: given });

describe("the log records", () => {
  test("sign-ins and sign-outs before the response: user, method, address and time", async () => {
    const { email, id } = await signUp(server());
    const response = await server().visitor.post(
      "/api/auth/signin",
      { email, password },
      { "user-agent": "Browser/1" },
    );
    expect(await newest(id, "sign_in")).toEqual({
      id: expect.stringMatching(/^aud_\d{12}$/),
      at: expect.stringMatching(timestampPattern),
      action: "sign_in",
      outcome: "done",
      reason: null,
      user: { id, email },
      via: { kind: "none", name: null },
      account: { id, email },
      target: null,
      clientAddress: "127.0.0.1",
      userAgent: "Browser/1",
      times: 1,
      details: {},
    });
    await new Client(server(), response.string("token")).post("/api/auth/signout");
    expect(await newest(id, "sign_out")).toMatchObject({ outcome: "done", user: { id }, via: { kind: "web" } });
    expect(await newest(id, "sign_up")).toMatchObject({ outcome: "done", user: { id, email } });
  });

  test("wrong passwords with the email as given; many within a minute in few entries", async () => {
    const { email, id } = await server().signUp();
    const stranger = freshEmail();
    for (let i = 0; i < 5; i++) await signIn(email, "wrong password");
    await signIn(stranger, "wrong password");
    await eventually("the log has the first of them", async () => {
      const [known, unknown] = [await entries(`user=${id}&outcome=refused`), await entries(`user=${stranger}`)];
      return known.length > 0 && unknown.length > 0;
    });
    const known = await entries(`user=${id}&outcome=refused`);
    expect(known).toHaveLength(1);
    expect(known[0]).toMatchObject({
      action: "sign_in",
      reason: "bad_credentials",
      user: { id: null, email },
      account: { id, email },
    });
    expect((await entries(`user=${stranger}`))[0]).toMatchObject({
      user: { id: null, email: stranger },
      account: null,
    });
  });

  test("reached limits, and refresh tokens that are used twice", async () => {
    await withServer({ env: { LARDER_RATE_LIMITS: "on" } }, async (own) => {
      const root = await own.addUser(["--admin"]);
      const guess = { email: root.email, password: "wrong password" };
      while ((await own.visitor.post("/api/auth/signin", guess)).status !== 429);
      const phone = await registerDevice(own, await own.addUser([]));
      for (let i = 0; i < 4; i++) await tryRefresh(own, phone.tokens.refreshToken, phone.deviceId);
      await own.restart();
      const found = await root.client.get("/api/admin/audit?outcome=refused&limit=100");
      expect(found.list("data.entries")).toContainEqual(
        expect.objectContaining({ action: "sign_in", reason: "rate_limited", user: { id: null, email: root.email } }),
      );
      expect(found.list("data.entries")).toContainEqual(
        expect.objectContaining({ action: "device.token_reused", target: { type: "device", id: phone.deviceId } }),
      );
    });
  });

  test("each start with the sign-up setting", async () => {
    const started = await entries("action=server.start");
    expect(started[0]).toMatchObject({ via: { kind: "system" }, user: null, details: { signup: "open" } });
  });

  test("changes of passwords, keys, sessions and devices", async () => {
    const account = await server().signUp();
    const { id, client } = account;
    const phone = await registerDevice(server(), account);
    expect(await newest(id, "device.register")).toMatchObject({ outcome: "done", user: { id } });
    const key = await client.post("/api/users/api-keys", { name: "script", currentPassword: password });
    const keyId = (await client.get("/api/users/api-keys")).strings("data.apiKeys", "id")[0] ?? "";
    expect(await newest(id, "api_key.create")).toMatchObject({ target: { type: "api_key", id: keyId } });
    const session = (await (await signInClient(account)).get("/api/auth/session")).string("session.id");
    await client.delete(`/api/users/sessions/${session}`);
    expect(await newest(id, "session.end")).toMatchObject({ target: { type: "session", id: session } });
    await phone.client.delete(`/api/mobile/devices/${phone.deviceId}`);
    expect(await newest(id, "device.remove")).toMatchObject({
      via: { kind: "mobile", name: "Pixel 9" },
      target: { type: "device", id: phone.deviceId },
    });
    await client.put("/api/users/profile", { currentPassword: password, newPassword: "another password" });
    expect(await newest(id, "password.change")).toMatchObject({ outcome: "done" });
    await client.put("/api/users/profile", { name: "New" });
    expect(await newest(id, "profile.change")).toMatchObject({ outcome: "done" });
    await client.delete(`/api/users/api-keys/${keyId}`);
    expect(await newest(id, "api_key.delete")).toMatchObject({ target: { type: "api_key", id: keyId } });
    const { text } = await admin.client.get(`/api/admin/audit?limit=100&user=${id}`);
    for (const secret of [password, "another password", key.string("data.key"), account.token])
      expect(text).not.toContain(secret);
  });

  test("everything that administrators do and to which account, and never a password", async () => {
    await confirmIdentity(admin);
    const created = await admin.client.post("/api/admin/users", { email: freshEmail(), password });
    const id = created.string("data.id");
    const email = created.string("data.email");
    await admin.client.request("PATCH", `/api/admin/users/${id}`, {
      json: { role: "viewer", password: "another password" },
    });
    expect(await newest(id, "user.change")).toMatchObject({
      user: { id: admin.id, email: admin.email },
      account: { id, email },
      target: { type: "user", id },
      details: { role: "viewer", password: "changed" },
    });
    await admin.client.delete(`/api/admin/users/${id}/sessions`);
    await admin.client.post(`/api/admin/users/${id}/reset-link`);
    await admin.client.delete(`/api/admin/users/${id}`);
    const actions = (await entries(`user=${id}`)).map(({ action }) => action);
    expect(actions).toEqual(["user.erase", "user.reset_link", "user.end_sessions", "user.change", "user.create"]);
    expect(await newest(id, "user.erase")).toMatchObject({ details: { email } });
    const invite = await admin.client.post("/api/admin/invites", { role: "viewer" });
    expect(await newest(admin.id, "invite.create")).toMatchObject({
      target: { type: "invite", id: invite.string("data.id") },
      details: { role: "viewer" },
    });
    await admin.client.post("/api/admin/jobs/sessions/run");
    expect(await newest(admin.id, "job.run")).toMatchObject({ target: { type: "job", id: "sessions" } });
  });

  test("attempts at what only administrators may do", async () => {
    const { id, client } = await server().signUp();
    expectError(await client.get("/api/admin/users"), 403, "role");
    expectError(await client.post("/api/admin/jobs/gc/run"), 403, "role");
    await eventually(
      "the log has the rejections",
      async () => (await entries(`user=${id}&action=job.run`)).length === 1,
    );
    expect(await newest(id, "admin.read")).toMatchObject({ outcome: "refused", reason: "role", user: { id } });
  });

  test("what commands did, and which system user ran them", async () => {
    const { email, id } = await server().signUp();
    await server().larder(["user", "set", email, "--plan", "pro"]);
    expect(await newest(id, "user.change")).toMatchObject({
      user: null,
      via: { kind: "cli", name: expect.any(String) },
      account: { id, email },
      details: { plan: "pro" },
    });
    await server().larder(["user", "token", email]);
    expect(await newest(id, "user.token")).toMatchObject({ via: { kind: "cli" } });
  });

  test("deletions of files by id without a name; not uploads", async () => {
    const { id, client } = await server().signUp();
    const file = await client.storedId("x", { name: "diary.txt" });
    await client.delete(`/api/files/${file}`);
    await eventually("the log has the deletion", async () => (await entries(`user=${id}&action=file`)).length > 0);
    const found = await admin.client.get(`/api/admin/audit?user=${id}`);
    expect(found.text).not.toContain("diary");
    const [entry] = await entries(`user=${id}&action=file`);
    expect(entry).toMatchObject({ action: "file.delete", target: { type: "file", id: file } });
  });

  test("deletions by a recipient of a share, for the owner's account, and the owner sees them", async () => {
    const owner = await server().signUp();
    const guest = await signUp(server());
    const folder = await owner.client.folderId("shared");
    const inner = await owner.client.folderId("inner", "/shared");
    const file = await owner.client.storedId("x", { fields: { folder: "/shared" } });
    await shareWith(owner.client, folder, guest, { permissions: "write" });
    expectStatus(await guest.client.delete(`/api/files/${file}`), 200);
    expectStatus(await guest.client.delete(`/api/files/folders/${inner}`), 200);
    await eventually("the log has both", async () => (await entries(`user=${guest.id}`)).length === 3);
    const logged = (await entries(`user=${guest.id}`)).slice(0, 2);
    expect(logged.map(({ action, user, account }) => [action, user, account])).toEqual([
      ["folder.delete", { id: guest.id, email: guest.email }, { id: owner.id, email: owner.email }],
      ["file.delete", { id: guest.id, email: guest.email }, { id: owner.id, email: owner.email }],
    ]);
    const seen = (await owner.client.get("/api/users/activity")).list("data.activity").map((entry) => asObject(entry));
    expect(seen.slice(0, 2).map((entry) => [entry?.["action"], entry?.["by"], entry?.["clientAddress"]])).toEqual([
      ["folder.delete", "guest", null],
      ["file.delete", "guest", null],
    ]);
  });

  test("created and revoked shares, without their tokens", async () => {
    const { id, client } = await server().signUp();
    const file = await client.storedId("x");
    const share = await client.post(`/api/files/${file}/shares`, { password: "open sesame" });
    const shareId = share.string("data.id");
    const token = share.string("data.token");
    await server().visitor.post(`/api/public/${token}/unlock`, { password: "wrong password" });
    await client.delete(`/api/shares/${shareId}`);
    const opened = await client.storedId("y", { fields: { isPublic: "true" } });
    expect(await newest(id, "share.create")).toMatchObject({ target: { type: "file", id: opened } });
    await client.put(`/api/files/${opened}`, { isPublic: false });
    expect(await newest(id, "share.revoke")).toMatchObject({ target: { type: "file", id: opened } });
    for (const action of ["share.create", "share.revoke"]) {
      const targets = (await entries(`user=${id}&action=${action}`)).map(({ target }) => target);
      expect(targets).toContainEqual({ type: "share", id: shareId });
    }
    await eventually("the log has the wrong guess", async () => (await entries("action=share.unlock")).length > 0);
    const guesses = await admin.client.get("/api/admin/audit?action=share.unlock");
    expect(guesses.list("data.entries")[0]).toMatchObject({
      outcome: "refused",
      target: { type: "share", id: shareId },
    });
    expect(guesses.text).not.toContain(token);
  });
});

async function signInClient({ email }: Account): Promise<Client> {
  return new Client(server(), (await signIn(email)).string("token"));
}

describe("GET /api/admin/audit", () => {
  test("is newest first, paged, and filtered by action, time, address and outcome", async () => {
    const { id, email, client } = await server().signUp();
    for (const name of ["a", "b", "c"]) await client.put("/api/users/profile", { name });
    const page = await admin.client.get(`/api/admin/audit?user=${id}&action=profile&limit=2`);
    expect(page.at("data.pagination")).toMatchObject({ total: 3, totalPages: 2, hasNext: true });
    const ids = (await entries(`user=${email}`)).map((entry) => String(entry["id"]));
    expect(ids).toEqual(ids.toSorted().toReversed());
    const [last, middle] = await entries(`user=${id}&action=profile.change`);
    expect(await entries(`user=${id}&from=${String(last?.["at"])}`)).toContainEqual(last ?? {});
    expect(await entries(`user=${id}&to=${String(middle?.["at"])}`)).not.toContainEqual(last ?? {});
    expect(await entries(`user=${id}&ip=192.0.2.1`)).toEqual([]);
    expect((await entries(`user=${id}&ip=::ffff:127.0.0.1`)).length).toBeGreaterThan(0);
    expect(await entries(`user=${id}&outcome=failed`)).toEqual([]);
  });

  test.each(["from=yesterday", "to=1", "outcome=perhaps", "page=0", "limit=101"])("rejects %s", async (query) => {
    expectError(await admin.client.get(`/api/admin/audit?${query}`), 400, "invalid_field", query.split("=")[0]);
  });

  test.each(["/api/admin/audit", "/api/admin/audit/export"])("%s is for administrators", async (path) => {
    const { client } = await server().signUp();
    expectError(await client.get(path), 403, "role");
    expectError(await server().visitor.get(path), 401, "missing_token");
  });
});

describe("GET /api/admin/audit/export", () => {
  test("returns everything as JSON lines, and the log records the export itself", async () => {
    const { id, client } = await signUp(server());
    // More entries than one page of the export.
    for (let i = 0; i < 520; i++) await client.put("/api/users/profile", { name: `Name ${i}` });
    const response = await admin.client.get(`/api/admin/audit/export?format=jsonl&user=${id}`);
    expectStatus(response, 200);
    expect(response.header("content-disposition")).toMatch(/^attachment; filename="larder-audit-.*\.jsonl"$/);
    const lines = response.text
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(lines).toHaveLength(521);
    expect(lines.slice(0, 20)).toEqual((await entries(`user=${id}`)).slice(0, 20));
    expect(await newest(admin.id, "audit.export")).toMatchObject({ outcome: "done", user: { id: admin.id } });
  });

  test("returns a table without anything that a spreadsheet reads as a formula", async () => {
    const { email } = await server().signUp();
    const agent = '=HYPERLINK("http://evil.example","x"),@SUM(1)';
    await server().visitor.post("/api/auth/signin", { email, password }, { "user-agent": agent });
    const response = await admin.client.get(`/api/admin/audit/export?format=csv&user=${email}`);
    expectStatus(response, 200);
    expect(response.header("content-type")).toStartWith("text/csv");
    const [heading = "", line = ""] = response.text.split("\r\n");
    expect(heading).toStartWith("id,at,userId,email,via");
    expect(line).toContain(`"'=HYPERLINK(""http://evil.example"",""x""),@SUM(1)"`);
  });

  test("rejects an unknown format", async () => {
    expectError(await admin.client.get("/api/admin/audit/export?format=xml"), 400, "invalid_field", "format");
  });
});

describe("GET /api/users/activity", () => {
  test("shows the user's own entries, and of administrators only their role", async () => {
    const { id, client, email } = await signUp(server());
    await signIn(email, "wrong password");
    await admin.client.request("PATCH", `/api/admin/users/${id}`, { json: { plan: "pro" } });
    await server().signUp();
    await eventually("the wrong password shows", async () =>
      (await client.get("/api/users/activity"))
        .list("data.activity")
        .some((entry) => asObject(entry)?.["by"] === "unknown"),
    );
    const response = await client.get("/api/users/activity");
    const logged = response.list("data.activity").map((entry) => asObject(entry) ?? {});
    expect(logged.map(({ action, by }) => `${String(action)} by ${String(by)}`).toSorted()).toEqual([
      "sign_in by unknown",
      "sign_up by you",
      "user.change by administrator",
    ]);
    expect(response.text).not.toContain(admin.email);
    expect((await client.get("/api/users/activity?limit=1")).at("data.pagination")).toMatchObject({
      total: 3,
      limit: 1,
    });
  });
});

describe("the log's table", () => {
  test("allows no change, and no deletion within the retention period", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      await own.signUp();
      const database = new Database(join(own.dataDir, "larder.db"));
      expect(() => database.run("UPDATE audit SET email = 'nobody@example.com'")).toThrow("append-only");
      expect(() => database.run("DELETE FROM audit")).toThrow("retention");
      database.run("INSERT INTO audit (at, via, action, outcome) VALUES (0, 'none', 'sign_in', 'done')");
      database.close();
      const root = await own.addUser(["--admin"]);
      const ran = await root.client.post("/api/admin/jobs/audit/run");
      expect(ran.string("data.lastResult")).toBe("1 entries removed");
      expect((await root.client.get("/api/admin/audit")).number("data.pagination.total")).toBeGreaterThan(0);
    });
  });

  test("keeps entries through a crash right after the response, and a stop writes pending counts", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const root = await own.addUser(["--admin"]);
      await root.client.post("/api/admin/invites", {});
      await own.kill9();
      await own.restart();
      const log = async () => (await root.client.get("/api/admin/audit?limit=100")).list("data.entries");
      expect(await log()).toContainEqual(expect.objectContaining({ action: "invite.create" }));
      for (let i = 0; i < 4; i++)
        await own.visitor.post("/api/auth/signin", { email: root.email, password: "wrong password" });
      await own.restart();
      const rejected = (await log())
        .map((entry) => asObject(entry) ?? {})
        .filter(({ outcome }) => outcome === "refused");
      expect(rejected.reduce((sum, { times }) => sum + Number(times), 0)).toBe(4);
      expect(rejected.length).toBeLessThanOrEqual(2);
    });
  });

  test("with audit.files = all has uploads and downloads, with off no deletions", async () => {
    for (const [files, expectedActions] of [
      ["all", ["file.delete", "file.download", "file.upload"]],
      ["off", []],
    ] as const) {
      await withServer({ hasAccounts: true, env: { LARDER_AUDIT_FILES: files } }, async (own) => {
        const { client } = await own.addUser(["--admin"]);
        // A file that looks like a response is not one.
        const content = '{"user":{"id":"usr_nobody"}, this is no JSON';
        const id = await client.storedId(content, { name: "a.json", type: "application/json" });
        expect((await client.get(`/api/files/${id}/download`)).text).toBe(content);
        await client.delete(`/api/files/${id}`);
        await own.restart();
        const found = (await client.get("/api/admin/audit?action=file")).strings("data.entries", "action");
        expect(found.toSorted()).toEqual([...expectedActions]);
      });
    }
  });
});

testAllResponses(server);
