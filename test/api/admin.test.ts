import { Database } from "bun:sqlite";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, Client, freshEmail } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { eventually, expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { asObject } from "../support/openapi.ts";
import { runJob } from "../support/jobs.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const password = "correct horse battery";

let admin: Account;

beforeAll(async () => {
  admin = await confirmIdentity(await server().addUser(["--admin", "--name", "Root"]));
});

const patch = (id: string, json: unknown, client = admin.client) =>
  client.request("PATCH", `/api/admin/users/${id}`, { json });
const signIn = (email: string, given = password) =>
  server().visitor.post("/api/auth/signin", { email, password: given });

describe("GET /api/admin/users", () => {
  test("shows each account with its usage, and none of its files", async () => {
    const account = await server().signUp({ name: "Ada Lovelace" });
    await account.client.stored("12345", { name: "diary.txt", fields: { folder: "/private" } });
    await registerDevice(server(), account);
    const response = await admin.client.get(`/api/admin/users?search=${account.email}`);
    expectStatus(response, 200);
    expect(response.list("data.users")).toEqual([
      {
        id: account.id,
        email: account.email,
        name: "Ada Lovelace",
        role: "user",
        plan: "enterprise",
        quota: null,
        quotaOverride: false,
        disabled: false,
        emailVerified: true,
        createdAt: expect.stringMatching(timestampPattern),
        lastActiveAt: expect.stringMatching(timestampPattern),
        storage: { used: 5, files: 1, folders: 1 },
        devices: 1,
        twoFactor: false,
      },
    ]);
    expect(response.at("data.pagination")).toMatchObject({ page: 1, limit: 20, total: 1 });
    expect(response.text).not.toMatch(/diary|private|argon2/);
    expect((await admin.client.get(`/api/admin/users/${account.id}`)).at("data")).toEqual(
      response.list("data.users")[0],
    );
  });

  test("finds parts of email and name without regard to case, beyond ASCII too", async () => {
    const { email } = await server().signUp({ name: "Ægir Öberg" });
    for (const search of ["ægir", "ÖBERG", email.slice(2, 12).toUpperCase()]) {
      const found = await admin.client.get(`/api/admin/users?search=${encodeURIComponent(search)}`);
      expect({ search, found: found.strings("data.users", "email") }).toEqual({ search, found: [email] });
    }
    const none = await admin.client.get(`/api/admin/users?search=${encodeURIComponent("%")}`);
    expect(none.list("data.users")).toEqual([]);
  });

  test("filters, sorts and pages", async () => {
    const name = `Sorted ${freshEmail()}`;
    const created = await Promise.all(
      ["c", "a", "b"].map((prefix) => server().signUp({ email: `${prefix}-${freshEmail()}`, name })),
    );
    const [c, a, b] = created.map(({ email }) => email);
    await created[1]?.client.stored("much more than nothing");
    await patch(created[0]?.id ?? "", { role: "viewer", plan: "pro" });
    await patch(created[2]?.id ?? "", { disabled: true });
    const list = async (query: string) =>
      (await admin.client.get(`/api/admin/users?search=${encodeURIComponent(name)}&${query}`)).strings(
        "data.users",
        "email",
      );
    expect(await list("")).toEqual([a, b, c] as string[]);
    expect(await list("sort=email&order=desc")).toEqual([c, b, a] as string[]);
    expect(await list("limit=2&page=2")).toEqual([c] as string[]);
    expect((await list("sort=used&order=desc"))[0]).toBe(a);
    expect(await list("role=viewer")).toEqual([c] as string[]);
    expect(await list("plan=pro")).toEqual([c] as string[]);
    expect(await list("disabled=true")).toEqual([b] as string[]);
    expect(await list("disabled=false")).toEqual([a, c] as string[]);
    for (const sort of ["name", "createdAt", "lastActiveAt"]) expect((await list(`sort=${sort}`)).length).toBe(3);
  });

  test.each(["limit=101", "limit=0", "page=0", "sort=size", "order=up", "role=king", "plan=gold", "disabled=perhaps"])(
    "rejects %s",
    async (query) => {
      expectError(await admin.client.get(`/api/admin/users?${query}`), 400, "invalid_field", query.split("=")[0]);
    },
  );
});

describe("POST /api/admin/users", () => {
  test("creates an account of every kind, which can sign in", async () => {
    const email = freshEmail();
    const body = { email, name: "Bob", password, role: "viewer", plan: "pro", quota: 123_456 };
    const created = await admin.client.post("/api/admin/users", body);
    expectStatus(created, 201);
    expect(created.at("data")).toMatchObject({
      email,
      name: "Bob",
      role: "viewer",
      plan: "pro",
      quota: 123_456,
      quotaOverride: true,
    });
    expect(created.text).not.toContain(password);
    const response = await signIn(email);
    const profile = await new Client(server(), response.string("token")).get("/api/users/profile");
    expect(profile.at("data")).toMatchObject({ email, role: "viewer", plan: "pro" });
  });

  test("without a password returns a link that sets one, once", async () => {
    const email = freshEmail();
    const created = await admin.client.post("/api/admin/users", { email });
    expectStatus(created, 201);
    const url = new URL(created.string("data.passwordLink.url"));
    const daysLeft = (Date.parse(created.string("data.passwordLink.expiresAt")) - Date.now()) / (24 * 60 * 60_000);
    expect(Math.round(daysLeft)).toBe(7);
    expectStatus(await server().visitor.get(url.pathname + url.search), 200);
    const chosen = new URLSearchParams({ token: url.searchParams.get("token") ?? "", password }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const choose = () => server().visitor.request("POST", "/welcome", { body: chosen, headers });
    expectStatus(await choose(), 201);
    expectStatus(await signIn(email), 200);
    expectStatus(await choose(), 404);
  });

  test("rejects values that are taken, malformed or out of range", async () => {
    const { email } = await server().signUp();
    expectError(
      await admin.client.post("/api/admin/users", { email: email.toUpperCase(), password }),
      409,
      "email_taken",
      "email",
    );
    const rows: [string, object][] = [
      ["email", { password }],
      ["email", { email: "nobody", password }],
      ["password", { email: freshEmail(), password: "short" }],
      ["role", { email: freshEmail(), password, role: "king" }],
      ["plan", { email: freshEmail(), password, plan: "gold" }],
      ["quota", { email: freshEmail(), password, quota: -1 }],
      ["quota", { email: freshEmail(), password, quota: "much" }],
      ["name", { email: freshEmail(), password, name: " " }],
    ];
    for (const [field, body] of rows) {
      expectError(await admin.client.post("/api/admin/users", body), 400, "invalid_field", field);
    }
  });
});

describe("PATCH /api/admin/users/{id}", () => {
  test("changes only the given fields, at once", async () => {
    const { id, client, email } = await server().signUp({ name: "Before" });
    const changed = await patch(id, { name: "After", plan: "free", quota: 10 });
    expect(changed.at("data")).toMatchObject({
      id,
      email,
      name: "After",
      plan: "free",
      quota: 10,
      quotaOverride: true,
      role: "user",
    });
    expect((await client.get("/api/users/profile")).at("data")).toMatchObject({ name: "After", plan: "free" });
    expectError(await client.upload("more than ten bytes"), 413, "quota_exceeded");
    expect((await patch(id, { quota: null })).at("data")).toMatchObject({ quota: null, quotaOverride: true });
    expect((await patch(id, { quota: "plan" })).at("data")).toMatchObject({
      quota: 5 * 1024 ** 3,
      quotaOverride: false,
    });
  });

  test("a role takes effect on the next request", async () => {
    const { id, client } = await server().signUp();
    await patch(id, { role: "viewer" });
    expectError(await client.upload("x"), 403, "role");
    await patch(id, { role: "admin" });
    expectStatus(await client.get("/api/admin/users"), 200);
    await patch(id, { role: "user" });
    expectError(await client.get("/api/admin/users"), 403, "role");
  });

  test("disabling ends sessions, devices and keys; enabling restores no session", async () => {
    const account = await server().signUp();
    const phone = await registerDevice(server(), account);
    const key = (
      await account.client.post("/api/users/api-keys", { name: "script", currentPassword: password })
    ).string("data.key");
    const byKey = new Client(server(), key);
    expectStatus(await byKey.get("/api/files"), 200);
    expect((await patch(account.id, { disabled: true })).at("data.disabled")).toBe(true);
    for (const client of [account.client, phone.client, byKey]) expectStatus(await client.get("/api/files"), 401);
    expectError(await signIn(account.email), 403, "account_disabled");
    await patch(account.id, { disabled: false });
    expectStatus(await account.client.get("/api/files"), 401);
    expectStatus(await signIn(account.email), 200);
  });

  test("a new password ends all sessions, devices included, and the owner is notified who set it", async () => {
    const account = await server().signUp();
    const phone = await registerDevice(server(), account);
    await patch(account.id, { password: "another password" });
    expectError(await account.client.get("/api/files"), 401, "revoked_token");
    expectError(await phone.client.get("/api/files"), 401, "revoked_token");
    expectError(await signIn(account.email), 401, "bad_credentials");
    const again = await registerDevice(server(), { ...account, password: "another password" });
    const inbox = await again.client.get("/api/mobile/notifications");
    expect(inbox.strings("data.notifications", "body").join(" ")).toContain("by an administrator");
  });

  test("a new email can sign in, the old one cannot", async () => {
    const { id, email } = await server().signUp();
    const next = freshEmail();
    expect((await patch(id, { email: next })).at("data.email")).toBe(next);
    expectError(await signIn(email), 401, "bad_credentials");
    expectStatus(await signIn(next), 200);
    expectError(await patch(id, { email: admin.email }), 409, "email_taken");
  });

  test("rejects an empty body, invalid values and unknown ids", async () => {
    const { id } = await server().signUp();
    expectError(await patch(id, {}), 400, "invalid_field");
    expectError(await patch(id, { role: "king" }), 400, "invalid_field", "role");
    expectError(await patch(id, { disabled: "yes" }), 400, "invalid_field", "disabled");
    expectError(await patch("usr_00000000000000000000", { role: "user" }), 404, "not_found");
  });
});

describe("the last administrator", () => {
  test("cannot be demoted, disabled or deleted, by their own or concurrent requests", async () => {
    await withServer({}, async (own) => {
      const only = await confirmIdentity(await own.addUser(["--admin"]));
      const other = await confirmIdentity(await own.signUp());
      const change = (id: string, json: object) => only.client.request("PATCH", `/api/admin/users/${id}`, { json });
      expectError(await change(only.id, { role: "user" }), 409, "last_admin");
      expectError(await change(only.id, { disabled: true }), 409, "last_admin");
      expectError(await only.client.delete(`/api/admin/users/${only.id}`), 409, "last_admin");
      await change(other.id, { role: "admin" });
      // Two administrators demote each other at once: one of them stays an administrator.
      const responses = await Promise.all([
        change(other.id, { role: "user" }),
        other.client.request("PATCH", `/api/admin/users/${only.id}`, { json: { role: "user" } }),
      ]);
      expect(sortedStatuses(responses).filter((status) => status === 200)).toHaveLength(1);
      const left = [only, other].map(async ({ client }) => (await client.get("/api/admin/stats")).status);
      expect((await Promise.all(left)).filter((status) => status === 200)).toHaveLength(1);
    });
  });
});

describe("DELETE /api/admin/users/{id}", () => {
  test("erases the account: it cannot sign in, is not listed, and its email is free", async () => {
    const account = await server().signUp();
    await account.client.stored("x");
    expectStatus(await admin.client.delete(`/api/admin/users/${account.id}`), 200);
    expectError(await account.client.get("/api/files"), 401, "revoked_token");
    expectError(await signIn(account.email), 401, "bad_credentials");
    expectError(await admin.client.get(`/api/admin/users/${account.id}`), 404, "not_found");
    expectError(await patch(account.id, { disabled: false }), 404, "not_found");
    expectError(await admin.client.delete(`/api/admin/users/${account.id}`), 404, "not_found");
    expect((await admin.client.get(`/api/admin/users?search=${account.email}`)).list("data.users")).toEqual([]);
    await server().signUp({ email: account.email });
  });
});

/** The rows of all tables that have these columns, for one value, by table. Empty tables are left out. */
function rowsOf(path: string, columns: readonly string[], value: number): Record<string, unknown[]> {
  const database = new Database(path, { readonly: true });
  try {
    const tables = database
      .query<{ name: string; column: string }, [string]>(
        `SELECT t.name, c.name AS "column" FROM pragma_table_list t, pragma_table_info(t.name) c
         WHERE t.type = 'table' AND c.name IN (SELECT value FROM json_each(?1)) ORDER BY t.name`,
      )
      .all(JSON.stringify(columns));
    const found = tables.map(({ name, column }) => {
      const rows = database.query(`SELECT * FROM "${name}" WHERE "${column}" = ?1 ORDER BY 1, 2`).all(value);
      return [`${name}.${column}`, rows] as const;
    });
    return Object.fromEntries(found.filter(([, rows]) => rows.length > 0));
  } finally {
    database.close();
  }
}

describe("an erased account with albums, shares and favorites", () => {
  test("leaves no row, and what others have is unchanged", async () => {
    await withServer({}, async (own) => {
      const boss = await confirmIdentity(await own.addUser(["--admin", "--name", "Boss"]));
      const [leaving, staying] = [await own.signUp(), await own.signUp()];
      const album = async ({ client }: Account, name: string) => {
        const ids = [await client.storedId(`${name} 1`, { name: "1.txt", fields: { folder: "/f" } })];
        ids.push(await client.storedId(`${name} 2`, { name: "2.txt" }));
        const made = await client.post("/api/albums", { name, fileIds: ids });
        expectStatus(made, 201);
        return { id: made.string("data.id"), ids };
      };
      const [gone, remaining] = [await album(leaving, "leaving"), await album(staying, "staying")];
      const share = async (from: Account, id: string, settings: object) =>
        expectStatus(await from.client.post(`/api/albums/${id}/shares`, settings), 201);
      await share(leaving, gone.id, {});
      await share(leaving, gone.id, { user: staying.email });
      await share(staying, remaining.id, {});
      await share(staying, remaining.id, { user: leaving.email });
      // Each marks a file of its own, and one of the other.
      const all = [gone.ids[0], remaining.ids[0]];
      for (const { client } of [leaving, staying]) {
        expectStatus(await client.post("/api/favorites", { ids: all, favorite: true }), 200);
      }
      const path = join(own.dataDir, "larder.db");
      const idOf = (publicId: string) => {
        const database = new Database(path, { readonly: true });
        const row = database.query<{ id: number }, [string]>("SELECT id FROM users WHERE public_id = ?1").get(publicId);
        database.close();
        return row?.id ?? 0;
      };
      const [leavingId, stayingId] = [idOf(leaving.id), idOf(staying.id)];
      const shown = async () => {
        const paths = [
          `/api/albums/${remaining.id}`,
          `/api/albums/${remaining.id}/items`,
          "/api/albums",
          "/api/files?recursive=true",
        ];
        return Promise.all(paths.map(async (address) => (await staying.client.get(address)).at("data")));
      };
      const before = { shown: await shown(), rows: rowsOf(path, ["account_id"], stayingId) };
      expect(Object.keys(rowsOf(path, ["account_id"], leavingId))).toContain("albums.account_id");
      expectStatus(await boss.client.delete(`/api/admin/users/${leaving.id}`), 200);
      expectError(await staying.client.get(`/api/albums/${gone.id}`), 404, "not_found");
      await eventually("all rows are deleted", async () => {
        await runJob(boss.client, "reap-deleted");
        // The workers of the search index and of the store journal delete their rows later than the job does.
        const rows = rowsOf(path, ["account_id"], leavingId);
        return (
          idOf(leaving.id) === 0 && !("search_cursors.account_id" in rows) && !("store_journal.account_id" in rows)
        );
      });
      const columns = ["account_id", "user_id", "recipient_id", "owner_id", "created_by"];
      // The log of administrators keeps its entries.
      expect(Object.keys(rowsOf(path, columns, leavingId)).filter((name) => !name.startsWith("audit"))).toEqual([]);
      expect(await shown()).toEqual(before.shown);
      const after = rowsOf(path, ["account_id"], stayingId);
      for (const table of ["albums", "nodes", "photos", "trash", "tags", "usage_types"]) {
        const name = `${table}.account_id`;
        expect({ name, rows: after[name] }).toEqual({ name, rows: before.rows[name] });
      }
      const favorites = (await staying.client.get("/api/favorites")).strings("data.favorites", "id");
      expect(favorites).toEqual([remaining.ids[0] ?? ""]);
      expect(after["shares.account_id"]).toHaveLength(1);
      const database = new Database(path, { readonly: true });
      const orphans = ["favorites", "album_items"].map((table) =>
        database.query(`SELECT * FROM ${table} WHERE node_id NOT IN (SELECT id FROM nodes)`).all(),
      );
      const broken = database.query("PRAGMA foreign_key_check").all();
      database.close();
      expect([...orphans, broken]).toEqual([[], [], []]);
    });
  });
});

describe("sessions, devices and usage of an account", () => {
  test("sessions are listed and ended, one or all", async () => {
    const account = await server().signUp();
    const second = new Client(server(), (await signIn(account.email)).string("token"));
    const base = `/api/admin/users/${account.id}/sessions`;
    const listed = await admin.client.get(base);
    expect(listed.list("data.sessions")).toHaveLength(2);
    const ownId = (await second.get("/api/auth/session")).string("session.id");
    expectStatus(await admin.client.delete(`${base}/${ownId}`), 200);
    expectError(await second.get("/api/files"), 401, "revoked_token");
    expectStatus(await account.client.get("/api/files"), 200);
    expectError(await admin.client.delete(`${base}/${ownId}`), 404, "not_found");
    const foreign = (await admin.client.get("/api/auth/session")).string("session.id");
    expectError(await admin.client.delete(`${base}/${foreign}`), 404, "not_found");
    expectStatus(await admin.client.delete(base), 200);
    expectError(await account.client.get("/api/files"), 401, "revoked_token");
    expect((await admin.client.get(base)).list("data.sessions")).toEqual([]);
  });

  test("devices are listed without their synced folders, and can be removed", async () => {
    const account = await server().signUp();
    const phone = await registerDevice(server(), account);
    await phone.client.put(`/api/mobile/devices/${phone.deviceId}/settings`, { syncFolders: ["/hidden"] });
    const base = `/api/admin/users/${account.id}/devices`;
    const listed = await admin.client.get(base);
    expect(listed.strings("data.devices", "id")).toEqual([phone.deviceId]);
    expect(listed.text).not.toContain("hidden");
    expectStatus(await admin.client.delete(`${base}/${phone.deviceId}`), 200);
    expectError(await phone.client.get("/api/files"), 401, "revoked_token");
    expectError(await admin.client.delete(`${base}/${phone.deviceId}`), 404, "not_found");
  });

  test("usage equals what the account itself sees", async () => {
    const account = await server().signUp();
    await account.client.stored("12345");
    const usage = await admin.client.get(`/api/admin/users/${account.id}/usage`);
    expect(usage.at("data.storage")).toEqual((await account.client.get("/api/users/usage")).at("data.storage"));
  });

  test("a lost second factor is removed; a link sets a new password", async () => {
    const account = await server().signUp();
    expectStatus(await admin.client.delete(`/api/admin/users/${account.id}/two-factor`), 200);
    const link = await admin.client.post(`/api/admin/users/${account.id}/reset-link`);
    expectStatus(link, 200);
    const token = new URL(link.string("data.url")).searchParams.get("token") ?? "";
    expectStatus(
      await server().visitor.post("/api/auth/password/reset", { token, newPassword: "a new password" }),
      200,
    );
    expectStatus(await signIn(account.email, "a new password"), 200);
  });

  test.each(["sessions", "devices", "usage"])("%s of an unknown account: 404", async (what) => {
    expectError(await admin.client.get(`/api/admin/users/usr_00000000000000000000/${what}`), 404, "not_found");
  });
});

describe("GET /api/admin/stats", () => {
  test("counts accounts, storage, jobs and queues", async () => {
    await withServer({}, async (own) => {
      const root = await own.addUser(["--admin", "--plan", "pro"]);
      const [a, b] = [await own.signUp(), await own.signUp()];
      await root.client.request("PATCH", `/api/admin/users/${b.id}`, { json: { disabled: true } });
      // Two accounts have the same content: the store has it once.
      await a.client.stored("12345", { name: "a", fields: { folder: "/x" } });
      await root.client.stored("12345", { name: "b" });
      const stats = await root.client.get("/api/admin/stats");
      expectStatus(stats, 200);
      expect(stats.at("data.users")).toEqual({
        total: 3,
        active: 2,
        disabled: 1,
        byPlan: { free: 0, pro: 1, enterprise: 2 },
        byRole: { admin: 1, user: 2, viewer: 0 },
      });
      expect(stats.at("data.storage")).toMatchObject({ usedBytes: 10, files: 2, folders: 1, blobs: 1, blobBytes: 5 });
      expect(stats.number("data.storage.diskFreeBytes")).toBeGreaterThan(0);
      expect(stats.number("data.storage.diskTotalBytes")).toBeGreaterThan(stats.number("data.storage.diskFreeBytes"));
      expect(Object.keys(asObject(stats.at("data.queues")) ?? {}).toSorted()).toEqual([
        "mail",
        "offline",
        "push",
        "webhooks",
      ]);
      const names = stats.strings("data.jobs", "name");
      for (const name of ["gc", "uploads", "journal", "rate-limits", "old-versions", "audit"])
        expect(names).toContain(name);
      expect(stats.string("data.startedAt")).toMatch(timestampPattern);
    });
  });
});

describe("jobs and plans", () => {
  test("a job runs on demand and returns its result", async () => {
    const ran = await admin.client.post("/api/admin/jobs/sessions/run");
    expectStatus(ran, 200);
    expect(ran.at("data")).toMatchObject({
      name: "sessions",
      isRunning: false,
      lastError: null,
      lastResult: expect.stringContaining("removed"),
      lastFinishedAt: expect.stringMatching(timestampPattern),
    });
    const listed = await admin.client.get("/api/admin/jobs");
    expect(listed.list("data.jobs")).toContainEqual(ran.at("data"));
    expectError(await admin.client.post("/api/admin/jobs/nothing/run"), 404, "not_found");
  });

  test("each job has a name and a description in the texts of the web app", async () => {
    const { names, descriptions } = (await Bun.file("src/translations/en/client.json").json())["admin-jobs"];
    const jobs = (await admin.client.get("/api/admin/jobs")).strings("data.jobs", "name");
    expect(Object.keys(names)).toEqual(expect.arrayContaining(jobs));
    expect(Object.keys(descriptions)).toEqual(expect.arrayContaining(jobs));
  });

  test("plans have the configured limits", async () => {
    await withServer(
      { hasAccounts: true, env: { LARDER_PLANS_FREE_DEVICES: "7", LARDER_RATE_LIMITS: "on" } },
      async (own) => {
        const root = await own.addUser(["--admin"]);
        const plans = (await root.client.get("/api/admin/plans")).list("data.plans");
        expect(plans).toHaveLength(3);
        expect(plans[0]).toMatchObject({
          name: "free",
          isDefault: false,
          maxFileSize: 10 * 1024 ** 2,
          devices: 7,
          limits: { uploads: { limit: 10, windowSeconds: 3600 } },
        });
        expect(plans[2]).toMatchObject({ name: "enterprise", isDefault: true, quota: null, maxNodes: 10_000_000 });
      },
    );
  });
});

describe("GET /api/admin/health", () => {
  test("reports no problems, and describes the server", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const root = await own.addUser(["--admin"]);
      const health = await root.client.get("/api/admin/health");
      expectStatus(health, 200);
      // The free space of this machine's disk does not depend on the server.
      const problems = health.list("data.problems").filter((one) => Reflect.get(Object(one), "about") !== "disk");
      expect(problems).toEqual([]);
      expect(health.at("data")).toMatchObject({
        isReady: true,
        notReadyReason: null,
        database: { fault: null },
        openFindings: 0,
        failedJobs: [],
        queues: { mail: 0, push: 0, webhooks: 0, offline: 0 },
        certificateEndsAt: null,
        versions: { bun: expect.stringMatching(/^\d/), sqlite: expect.stringMatching(/^3\./) },
        startedAt: expect.stringMatching(timestampPattern),
      });
      expect(health.number("data.database.bytes")).toBeGreaterThan(0);
      expect(health.number("data.disk.totalBytes")).toBeGreaterThan(health.number("data.disk.freeBytes"));
    });
  });

  test("reports the latest database snapshot", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const root = await own.addUser(["--admin"]);
      expectStatus(await root.client.post("/api/admin/jobs/snapshot/run"), 200);
      let lastAt: unknown = null;
      await eventually("a snapshot exists", async () => {
        lastAt = (await root.client.get("/api/admin/health")).at("data.snapshots.lastAt");
        return lastAt !== null;
      });
      expect(lastAt).toMatch(timestampPattern);
    });
  });
});

describe("GET /api/admin/config", () => {
  test("shows each setting with its source and help text, and no secrets", async () => {
    const secret = "a password of the mail server";
    const env = {
      LARDER_MAIL_PASSWORD: secret,
      LARDER_MAIL_USER: "postman",
      LARDER_MAIL_HOST: "127.0.0.1",
      LARDER_MAIL_FROM: "larder@example.org",
      LARDER_PUBLIC_URL: "https://files.example.com",
    };
    const toml = "[plans.free]\ndevices = 9\n";
    await withServer({ env, toml }, async (own) => {
      const root = await own.addUser(["--admin"]);
      const response = await root.client.get("/api/admin/config");
      expectStatus(response, 200);
      const findSetting = (key: string) =>
        response.list("data.settings").find((one) => Reflect.get(Object(one), "key") === key);
      expect(findSetting("mail.password")).toMatchObject({
        value: "(set)",
        isSecret: true,
        isDefault: false,
        source: "LARDER_MAIL_PASSWORD",
      });
      expect(findSetting("mail.user")).toMatchObject({ value: "postman", source: "LARDER_MAIL_USER" });
      expect(findSetting("plans.free.devices")).toMatchObject({
        value: "9",
        default: "3",
        isDefault: false,
        source: `${response.string("data.file")}:2`,
        environment: "LARDER_PLANS_FREE_DEVICES",
      });
      expect(findSetting("gcGrace")).toMatchObject({ value: "7d", isDefault: true, source: "default" });
      expect(response.text).not.toContain(secret);
    });
  });
});

describe("GET /api/admin/stats/history", () => {
  test("has the current figures of today, and the recorded ones", async () => {
    await withServer({}, async (own) => {
      const root = await own.addUser(["--admin"]);
      const job = await root.client.post("/api/admin/jobs/daily-sample/run");
      expect(job.at("data.lastError")).toBeNull();
      await (await own.signUp()).client.stored("12345");
      // Totals that are slow to compute are cached.
      let days: unknown[] = [];
      const isCounted = async () => {
        const response = await root.client.get("/api/admin/stats/history?days=7");
        expectStatus(response, 200);
        days = response.list("data.days");
        return Reflect.get(Object(days.at(-1)), "files") === 1;
      };
      await eventually("the file is counted", isCounted, 120_000);
      expect(days.at(-1)).toMatchObject({ users: 2, files: 1, usedBytes: 5, contents: 1, storedBytes: 5 });
      expect(days.length).toBeLessThanOrEqual(2);
      expectError(await root.client.get("/api/admin/stats/history?days=0"), 400, "invalid_field", "days");
      expectError(await root.client.get("/api/admin/stats/history?days=732"), 400, "invalid_field", "days");
    });
  });
});

test.each(["health", "config", "stats/history"])("GET /api/admin/%s is only for administrators", async (path) => {
  const { client } = await server().signUp();
  expectError(await client.get(`/api/admin/${path}`), 403, "role");
  expectError(await server().visitor.get(`/api/admin/${path}`), 401, "missing_token");
});

testAllResponses(server);
