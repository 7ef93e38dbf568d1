// Settings that administrators change in the page.
import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Account, type ApiResponse, freshEmail, randomContent } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { MailServer } from "../support/mail-server.ts";
import { asObject } from "../support/openapi.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer } from "../support/server.ts";

const MAIL_PORT = 2525;
/** Without the settings that tests of other things set. */
const OWN_DEFAULTS = { LARDER_RATE_LIMITS: "", LARDER_DEFAULT_PLAN: "" };
const server = sharedServer({
  toml: '[trash]\nkeep = "14d"\n',
  env: { LARDER_VERSIONS_KEEP: "3", ...OWN_DEFAULTS },
});

let admin: Account;

beforeAll(async () => {
  admin = await confirmIdentity(await server().addUser(["--admin", "--name", "Root"]));
});

const change = (values: Record<string, unknown>, account = admin) =>
  account.client.request("PATCH", "/api/admin/settings", { json: { values } });

function settingOf(response: ApiResponse, key: string): Record<string, unknown> {
  const found = response.list("data.settings").find((one) => asObject(one)?.["key"] === key);
  return asObject(found) ?? {};
}

describe("GET /api/admin/settings", () => {
  test("lists each setting with value, source and range, and marks what is fixed elsewhere", async () => {
    const response = await admin.client.get("/api/admin/settings");
    expectStatus(response, 200);
    expect(settingOf(response, "plans.pro.quota")).toMatchObject({
      group: "plans",
      kind: "size",
      value: 100 * 1024 ** 3,
      text: "100GB",
      source: "default",
      isEditable: true,
      fixedBy: null,
      unit: "bytes",
      noneWord: "none",
      needsRestart: false,
    });
    expect(settingOf(response, "versions.keep")).toMatchObject({
      value: 3,
      isEditable: false,
      fixedBy: "LARDER_VERSIONS_KEEP",
      min: 0,
      max: 1000,
    });
    const trash = settingOf(response, "trash.keep");
    expect(trash).toMatchObject({ text: "14d", isEditable: false, value: 14 * 86_400_000, unit: "ms" });
    expect(trash["fixedBy"]).toMatch(/larder\.toml:\d+$/);
  });

  test("offers no secret, path, proxy or limit of sign-ins", async () => {
    const keys = (await admin.client.get("/api/admin/settings")).strings("data.settings", "key");
    const forbidden = /password|File$|proxies|outbound|^s3|^oidc|data|secret|limit\.signin$|^tls|publicUrl/;
    expect(keys.filter((key) => forbidden.test(key))).toEqual([]);
    expect(keys).toContain("signup");
  });
});

describe("texts about settings", () => {
  const configured = async (headers: Record<string, string>) => admin.client.get("/api/admin/config", headers);
  const GERMAN = { "accept-language": "de" };

  test("are in the language of the reader", async () => {
    for (const path of ["/api/admin/settings", "/api/admin/config"]) {
      const { help } = settingOf(await admin.client.get(path, GERMAN), "defaultPlan");
      expect(help).toBe("Plan neuer Konten.");
      const chosen = { ...GERMAN, cookie: "larder_language=fr" };
      expect(settingOf(await admin.client.get(path, chosen), "defaultPlan")["help"]).toBe(
        "Formule des nouveaux comptes.",
      );
    }
    const changed = await admin.client.request("PATCH", "/api/admin/settings", {
      json: { values: { defaultPlan: null } },
      headers: GERMAN,
    });
    expect(settingOf(changed, "defaultPlan")["help"]).toBe("Plan neuer Konten.");
  });

  test("come with what a setting accepts in the language of the reader", async () => {
    const accepts = async (key: string) => settingOf(await configured(GERMAN), key)["accepts"];
    expect(await accepts("plans.free.maxNodes")).toBe("ganze Zahl oder unlimited");
    expect(await accepts("signup")).toBe("open, invite, closed");
  });

  test("come with problems of the settings in the language of the reader", async () => {
    const rejected = await admin.client.request("PATCH", "/api/admin/settings", {
      json: { values: { "mail.verify": true } },
      headers: GERMAN,
    });
    expectError(rejected, 400, "invalid_field");
    expect(rejected.string("error.message")).toStartWith("mail.verify braucht einen SMTP-Server");
  });

  test("are in English for programs and for languages without a translation", async () => {
    for (const headers of [{}, { "accept-language": "eo" }]) {
      expect(settingOf(await configured(headers), "defaultPlan")["help"]).toBe("Plan of new accounts.");
    }
  });

  test("are not in English in the language for tests", async () => {
    const { help } = settingOf(await configured({ "accept-language": "ar-XB" }), "defaultPlan");
    expect(help).not.toContain("Plan of new accounts.");
  });

  test("leave values and their words as they are written in larder.toml", async () => {
    const written = async (headers: Record<string, string>) =>
      (await configured(headers))
        .list("data.settings")
        .map((setting) => ({ ...asObject(setting), help: "", accepts: "" }));
    expect(await written(GERMAN)).toEqual(await written({}));
  });
});

describe("PATCH /api/admin/settings", () => {
  test("applies at once, is reset by null, and is written into the audit log", async () => {
    const user = await server().addUser(["--plan", "enterprise"]);
    const big = randomContent(2000);
    expectStatus(await change({ "plans.enterprise.maxFileSize": 1000, "plans.enterprise.limit.uploads": "7" }), 200);
    expectError(await user.client.upload(big, { name: "big" }), 413, "file_too_large");
    const upload = await user.client.upload("small", { name: "small" });
    expect(upload.headers.get("x-ratelimit-limit")).toBe("7");
    const config = await admin.client.get("/api/admin/config");
    const shown = config.list("data.settings").find((one) => asObject(one)?.["key"] === "plans.enterprise.maxFileSize");
    expect(shown).toMatchObject({ value: "1000", source: "stored", isDefault: false });

    const reset = await change({ "plans.enterprise.maxFileSize": null, "plans.enterprise.limit.uploads": null });
    expect(settingOf(reset, "plans.enterprise.maxFileSize")).toMatchObject({ source: "default", isStored: false });
    expectStatus(await user.client.upload(big, { name: "big" }), 201);

    const log = await admin.client.get("/api/admin/audit?action=settings.change&limit=2");
    expect(log.list("data.entries")[1]).toMatchObject({
      outcome: "done",
      user: { id: admin.id },
      details: { "plans.enterprise.maxFileSize": expect.stringMatching(/ → 1000$/) },
    });
  });

  test("closes and opens sign-up", async () => {
    expectStatus(await change({ signup: "closed" }), 200);
    const password = "correct horse battery";
    const attempt = () => server().visitor.post("/api/auth/signup", { email: freshEmail(), password });
    expectError(await attempt(), 403, "signup_closed");
    expect((await server().visitor.get("/api/auth/methods")).at("data.signup")).toBe("closed");
    expectStatus(await change({ signup: "open", defaultPlan: "pro" }), 200);
    const signedUp = await attempt();
    expectStatus(signedUp, 201);
    const created = await admin.client.get(`/api/admin/users/${signedUp.string("user.id")}`);
    expect(created.at("data.plan")).toBe("pro");
    expectStatus(await change({ signup: null, defaultPlan: null }), 200);
  });

  test("rejects bad values with the key and the range, and changes nothing then", async () => {
    for (const [key, value, range] of [
      ["plans.free.quota", "much", "must be a number of bytes"],
      ["plans.free.devices", -1, "must be a whole number"],
      ["versions.maxAge", "9999d", "must be between 0s and 3650d"],
      ["signup", "sometimes", "must be one of: open, invite, closed"],
      ["rateLimitScale", 1e300, "must be at most 1000000"],
      ["rateLimits", 7, 'must be "on" or "off"'],
      ["mail.port", 70_000, "from 0 to 65535"],
      ["mail.verify", true, "requires an SMTP server"],
    ] as const) {
      const response = await change({ defaultPlan: "free", [key]: value });
      expectError(response, 400, "invalid_field", key);
      expect(response.text).toContain(JSON.stringify(range).slice(1, -1));
    }
    for (const key of [
      "trash.keep",
      "versions.keep",
      "data",
      "outboundAllow",
      "mail.password",
      "plans.free.limit.signin",
    ]) {
      expectError(await change({ [key]: "1d" }), 400, "invalid_field", key);
    }
    expectError(await change({ nonsense: 1 }), 400, "invalid_field", "nonsense");
    const after = await admin.client.get("/api/admin/settings");
    expect(after.list("data.settings").filter((one) => asObject(one)?.["isStored"] === true)).toEqual([]);
  });

  test("rejects limits that would lock administrators out", async () => {
    // A limit of 0 rejected every request of a plan, also those that would change it again.
    expectError(
      await change({ "plans.enterprise.limit.general": 0 }),
      400,
      "invalid_field",
      "plans.enterprise.limit.general",
    );
    expectError(await change({ rateLimitScale: 0.000_001 }), 400, "invalid_field", "rateLimitScale");
    expectStatus(await change({ "plans.enterprise.limit.general": 1_000 }), 200);
    expectStatus(await change({ "plans.enterprise.limit.general": null }), 200);
  });

  test("rejects mail hosts and ports that are no address", async () => {
    // They were errors of the server.
    expectError(await change({ "mail.host": "not a host" }), 400, "invalid_field", "mail.host");
    expectError(
      await change({ "mail.host": "smtp.example.org", "mail.port": 70_000 }),
      400,
      "invalid_field",
      "mail.port",
    );
  });

  test("needs an administrator's session with proof", async () => {
    const { client } = await server().addUser(["--admin"]);
    const values = { "plans.free.quota": "6GB" };
    expectError(await client.request("PATCH", "/api/admin/settings", { json: { values } }), 401, "password_required");
    const user = await confirmIdentity(await server().signUp());
    expectError(await change(values, user), 403, "role");
    expectError(await server().visitor.request("PATCH", "/api/admin/settings", { json: { values } }), 401);
  });

  test("never loosens the limits of wrong passwords", async () => {
    expectStatus(await change({ rateLimits: false, rateLimitScale: 1000 }), 200);
    const { email } = await server().signUp();
    const guess = () => server().visitor.post("/api/auth/signin", { email, password: "wrong password" });
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) statuses.push((await guess()).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expectStatus(await change({ rateLimits: null, rateLimitScale: null }), 200);
  });
});

describe("the mail server", () => {
  test("of the page may not be in a private network, unless the operator allows it", async () => {
    for (const host of ["127.0.0.1", "192.168.1.1", "localhost", "[::1]", "169.254.169.254"]) {
      const response = await change({ "mail.host": host, "mail.port": MAIL_PORT, "mail.from": "larder@example.org" });
      expect([host, response.status]).toEqual([host, 400]);
    }
    expectError(await admin.client.post("/api/admin/settings/mail/test", {}), 400, "invalid_request");
  });

  test("of the page sends mail at once, and its test goes to the administrator", async () => {
    const mail = new MailServer();
    await mail.start();
    try {
      const env = { LARDER_OUTBOUND_ALLOW: `127.0.0.1:${mail.port}`, LARDER_PUBLIC_URL: "http://files.example.test" };
      await withServer({ env }, async (own) => {
        const root = await confirmIdentity(await own.addUser(["--admin"]));
        const values = {
          "mail.host": "127.0.0.1",
          "mail.port": mail.port,
          "mail.secure": "none",
          "mail.from": "Larder <larder@example.org>",
        };
        const changed = await change(values, root);
        expectStatus(changed, 200);
        expect(changed.at("data.mail")).toEqual({ isReady: true, hasPassword: false, problem: null });
        const sent = await root.client.post("/api/admin/settings/mail/test", {});
        expect(sent.at("data")).toEqual({ to: root.email, result: "sent" });
        expect(mail.received.map(({ to }) => to)).toEqual([[root.email]]);
        expect((await own.visitor.get("/api/auth/methods")).at("data.mail")).toBe(true);
        expectError(await change({ "mail.user": "ann" }, root), 400, "invalid_field", "mail.user");
        await mail.stop();
        const failed = await root.client.post("/api/admin/settings/mail/test", {});
        expect(failed.at("data")).toEqual({ to: root.email, result: "unreachable" });
      });
    } finally {
      await mail.stop();
    }
  });

  test("of the operator can't be replaced: its password would be sent elsewhere", async () => {
    const env = {
      LARDER_MAIL_PASSWORD: "secret",
      LARDER_MAIL_USER: "ann",
      LARDER_PUBLIC_URL: "http://files.example.test",
    };
    await withServer(
      { env: { ...env, LARDER_MAIL_HOST: "mail.example.org", LARDER_MAIL_FROM: "a@example.org" } },
      async (own) => {
        const root = await confirmIdentity(await own.addUser(["--admin"]));
        for (const key of ["mail.host", "mail.port", "mail.secure"]) {
          expectError(
            await change({ [key]: key === "mail.host" ? "mail.evil.example" : 25 }, root),
            400,
            "invalid_field",
            key,
          );
        }
        expect((await root.client.get("/api/admin/settings")).text).not.toContain("secret");
      },
    );
  });
});

test("stored values stay after a restart, and one that is not valid any more is ignored and shown", async () => {
  await withServer({}, async (own) => {
    const root = await confirmIdentity(await own.addUser(["--admin"]));
    expectStatus(await change({ "plans.free.quota": "7GB", "versions.keep": 5 }, root), 200);
    await own.stop();
    const sqlite = new Database(join(own.dataDir, "larder.db"));
    sqlite.run("UPDATE settings SET value = 'many' WHERE key = 'versions.keep'");
    sqlite.close();
    const printed = await own.larder(["config"]);
    expect(printed.stdout).toMatch(/plans\.free\.quota +7GB +# stored/);
    await own.start();
    const after = await root.client.get("/api/admin/settings");
    expect(settingOf(after, "plans.free.quota")).toMatchObject({ text: "7GB", isStored: true });
    expect(settingOf(after, "versions.keep")).toMatchObject({
      value: 10,
      isStored: false,
      problem: expect.stringContaining("must be a whole number from 0 to 1000"),
    });
    const german = await root.client.get("/api/admin/settings", { "accept-language": "de" });
    expect(settingOf(german, "versions.keep")["problem"]).toContain("muss eine ganze Zahl");
    // A broken value does not stand in the way of other changes.
    expectStatus(await change({ "plans.free.quota": "8GB" }, root), 200);
  });
});

testAllResponses(server);
