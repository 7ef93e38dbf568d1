// What lets somebody in after a restore: everything that the backup has, and with --sign-out only passwords.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { shareWith } from "../support/account-shares.ts";
import { createAppPassword, openDav } from "../support/app-passwords.ts";
import { type Account, type ApiResponse, Client, freshEmail, randomContent } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { temporaryFolders } from "../support/data-directory.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { runInProcess } from "../support/in-process.ts";
import { MailServer } from "../support/mail-server.ts";
import { registerDevice, tryRefresh } from "../support/mobile.ts";
import { Browser, publicUrl, TestProvider } from "../support/oidc-provider.ts";
import { UrlPushService, WebPushService } from "../support/push-services.ts";
import { type TestServer, withServer } from "../support/server.ts";
import { enableTwoFactor, generateCode } from "../support/two-factor.ts";
import { planUpload, putBytes } from "../support/uploads.ts";

// Each starts several servers.
setDefaultTimeout(300_000);

const folder = temporaryFolders();
const mails = new MailServer();
const provider = new TestProvider();
const pushEnv = { LARDER_OUTBOUND_ALLOW: "127.0.0.0/8" };
let env: Record<string, string> = {};

beforeAll(async () => {
  await Promise.all([mails.start(), provider.start()]);
  env = {
    ...provider.env,
    ...pushEnv,
    LARDER_MAIL_HOST: "127.0.0.1",
    LARDER_MAIL_PORT: String(mails.port),
    LARDER_MAIL_SECURE: "none",
    LARDER_MAIL_FROM: "Larder <larder@example.test>",
    LARDER_MAIL_VERIFY: "on",
    LARDER_PUBLIC_URL: publicUrl,
  };
});
afterAll(() => Promise.all([mails.stop(), provider.stop()]));

/** Restores a backup. @returns the data directory, and what the command printed */
async function restore(backup: string, flags: readonly string[]): Promise<{ dataDir: string; result: object }> {
  const dataDir = join(await folder(), "data");
  const { code, stdout, stderr } = await runInProcess(["restore", backup, "--json", "--data", dataDir, ...flags]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return { dataDir, result: JSON.parse(stdout) };
}

async function backUp({ dataDir }: TestServer): Promise<string> {
  const backup = join(await folder(), "backup");
  expect((await runInProcess(["backup", backup, "--data", dataDir])).code).toBe(0);
  return backup;
}

/** The token of the last link in the emails to an address. */
async function mailedToken(email: string): Promise<string> {
  const find = () =>
    mails.received.findLast(({ to, parsed }) => to.includes(email) && /token=/.test(parsed.text ?? ""));
  await eventually(`a link arrives for ${email}`, () => find() !== undefined);
  return /token=([\w-]+)/.exec(find()?.parsed.text ?? "")?.[1] ?? "";
}

/** Sends the form of a page as our own pages do. */
function sendForm(server: TestServer, path: string, fields: Record<string, string>): Promise<ApiResponse> {
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    "sec-fetch-site": "same-origin",
    origin: publicUrl,
    host: new URL(publicUrl).host,
  };
  return server.visitor.request("POST", path, { body: new URLSearchParams(fields).toString(), headers });
}

/** What somebody has at the time of the backup, and tries at a restored server. */
interface Way {
  /** Prepares it at the original server. @returns the attempt, which responds with a status */
  readonly prepare: (server: TestServer, admin: Account) => Promise<(copy: TestServer) => Promise<number>>;
  /** The status at a server that was restored without a flag, and with --sign-out. */
  readonly statuses: readonly [number, number];
}

const status = async (response: Promise<ApiResponse>) => (await response).status;
const newPassword = "of somebody else entirely";

const WAYS: Readonly<Record<string, Way>> = {
  "a session": {
    async prepare(server) {
      const { token } = await server.signUp();
      return (copy) => status(new Client(copy, token).get("/api/files"));
    },
    statuses: [200, 401],
  },
  "the cookie of a browser": {
    async prepare(server) {
      const { token } = await server.signUp();
      return (copy) => status(copy.visitor.get("/api/files", { cookie: `larder_session=${token}` }));
    },
    statuses: [200, 401],
  },
  "a confirmed session, to make an API key": {
    async prepare(server) {
      const { token } = await confirmIdentity(await server.signUp());
      const key = { name: "mine", scopes: ["files:read"] };
      return (copy) => status(new Client(copy, token).post("/api/users/api-keys", key));
    },
    statuses: [201, 401],
  },
  "a second factor that is being set up": {
    async prepare(server) {
      const { client, token, password } = await server.signUp();
      const setUp = await client.post("/api/users/two-factor/setup", { currentPassword: password });
      const body = () => ({ code: generateCode(setUp.string("data.secret")) });
      return (copy) => status(new Client(copy, token).post("/api/users/two-factor/enable", body()));
    },
    statuses: [200, 401],
  },
  "the access token of a phone": {
    async prepare(server) {
      const { tokens } = await registerDevice(server, await server.signUp());
      return (copy) => status(new Client(copy, tokens.accessToken).get("/api/mobile/devices"));
    },
    statuses: [200, 401],
  },
  "the refresh token of a phone": {
    async prepare(server) {
      const { tokens, deviceId } = await registerDevice(server, await server.signUp());
      return (copy) => status(tryRefresh(copy, tokens.refreshToken, deviceId));
    },
    statuses: [200, 401],
  },
  "the address of a chunk, after its phone has signed in again": {
    async prepare(server) {
      const account = await server.signUp();
      const { client, deviceId } = await registerDevice(server, account);
      const content = randomContent(1_000);
      const { chunks } = await planUpload(client, content);
      return async (copy) => {
        expectStatus(await copy.visitor.post("/api/mobile/auth", { ...credentials(account), deviceId }), 200);
        return status(putBytes(copy.visitor, chunks[0]?.path ?? "", content));
      };
    },
    statuses: [200, 401],
  },
  "an API key": {
    async prepare(server) {
      const { client, password } = await server.signUp();
      const key = { name: "mine", scopes: ["files:read"], currentPassword: password };
      const made = await client.post("/api/users/api-keys", key);
      expectStatus(made, 201);
      return (copy) => status(new Client(copy, made.string("data.key")).get("/api/files"));
    },
    statuses: [200, 401],
  },
  "an app password": {
    async prepare(server) {
      const appPassword = await createAppPassword(await server.signUp());
      return (copy) => status(openDav(copy, appPassword));
    },
    statuses: [200, 401],
  },
  "the agreed sign-in of a program that waits for its app password": {
    async prepare(server) {
      const { client, password } = await server.signUp();
      const flow = await server.visitor.request("POST", "/login/v2");
      const path = `/api/users/login-flows/${flow.string("login").split("/").at(-1)}`;
      expectStatus(await client.post(path, { currentPassword: password }), 200);
      return (copy) => status(copy.visitor.post("/login/v2/poll", { token: flow.string("poll.token") }));
    },
    statuses: [200, 404],
  },
  "an invitation": {
    async prepare(_server, { client }) {
      const made = await client.post("/api/admin/invites", { role: "user" });
      expectStatus(made, 201);
      const account = { email: freshEmail(), password: newPassword, invite: made.string("data.invite") };
      return (copy) => status(copy.visitor.post("/api/auth/signup", account));
    },
    statuses: [201, 403],
  },
  "the welcome link of a new person": {
    async prepare(_server, { client }) {
      const made = await client.post("/api/admin/users", { email: freshEmail(), name: "Ben" });
      expectStatus(made, 201);
      const token = new URL(made.string("data.passwordLink.url")).searchParams.get("token") ?? "";
      return (copy) => status(sendForm(copy, "/welcome", { token, password: newPassword }));
    },
    statuses: [201, 404],
  },
  "a link for a new password": {
    async prepare(server) {
      const { email } = await server.signUp();
      // The email that confirms the address came first.
      await mailedToken(email);
      const made = await server.larder(["user", "reset-link", email]);
      expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: "" });
      const token = /token=([\w-]+)/.exec(made.stdout)?.[1] ?? "";
      return (copy) => status(copy.visitor.post("/api/auth/password/reset", { token, newPassword }));
    },
    statuses: [200, 401],
  },
  "a link that confirms an email address": {
    async prepare(server) {
      const token = await mailedToken((await server.signUp()).email);
      return (copy) => status(copy.visitor.post("/api/auth/email/confirm", { token }));
    },
    statuses: [200, 401],
  },
  "the start of linking an account to the provider": {
    async prepare(server) {
      const { client, password } = await server.signUp();
      const begun = await client.post("/api/auth/oidc/link", { currentPassword: password });
      expectStatus(begun, 200);
      const browser = new Browser(() => server.url);
      const cookie = (begun.header("set-cookie") ?? "").split(";")[0] ?? "";
      const isBack = (address: string) => address.startsWith(`${publicUrl}/api/auth/oidc/callback`);
      const { address } = await browser.go(begun.string("data.url"), "an-attacker", isBack);
      const { pathname, search } = new URL(address);
      const headers = { cookie, accept: "text/html", host: new URL(publicUrl).host };
      return (copy) => status(copy.visitor.get(pathname + search, headers));
    },
    statuses: [302, 401],
  },
  "a password, with the second factor": {
    async prepare(server) {
      const account = await server.signUp();
      const { codes } = await enableTwoFactor(account);
      return (copy) => status(copy.visitor.post("/api/auth/signin", { ...credentials(account), code: codes[0] }));
    },
    statuses: [200, 200],
  },
  "the link of a file": {
    async prepare(_server, { client }) {
      const file = await client.storedId("shared");
      const made = await client.post(`/api/files/${file}/shares`, {});
      expectStatus(made, 201);
      const { pathname } = new URL(made.string("data.url"));
      return (copy) => status(copy.visitor.get(pathname));
    },
    statuses: [200, 200],
  },
};

function credentials({ email, password }: Account): { email: string; password: string } {
  return { email, password };
}

test("what lets somebody in at the backup does so after a restore, but with --sign-out only a password does", async () => {
  await withServer({ env }, async (server) => {
    const admin = await confirmIdentity(await server.addUser(["--admin"]));
    const attempts: { name: string; attempt: (copy: TestServer) => Promise<number> }[] = [];
    for (const [name, { prepare }] of Object.entries(WAYS))
      attempts.push({ name, attempt: await prepare(server, admin) });
    const backup = await backUp(server);
    await server.stop();
    for (const [index, flags] of [[], ["--sign-out"]].entries()) {
      const { dataDir, result } = await restore(backup, flags);
      if (index === 0) expect(result).toMatchObject({ signedOut: 0, endedLinks: 0 });
      else expect(result).toMatchObject({ signedOut: expect.any(Number), endedLinks: expect.any(Number) });
      await withServer({ dataDir, env }, async (copy) => {
        const found: Record<string, number> = {};
        for (const { name, attempt } of attempts) found[name] = await attempt(copy);
        const expected = Object.entries(WAYS).map(([name, { statuses }]) => [name, statuses[index]]);
        expect(found).toEqual(Object.fromEntries(expected));
      });
    }
  });
});

test("after --sign-out, new links can be made in place of those that ended", async () => {
  await withServer({ env }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const made = await admin.client.post("/api/admin/users", { email: freshEmail(), name: "Ben" });
    const invited = await admin.client.post("/api/admin/invites", { role: "user" });
    const { dataDir } = await restore(await backUp(server), ["--sign-out"]);
    await withServer({ dataDir, env }, async (copy) => {
      const signedIn = await copy.visitor.post("/api/auth/signin", credentials(admin));
      const { client } = await confirmIdentity({ ...admin, client: new Client(copy, signedIn.string("token")) });
      const invites = await client.get("/api/admin/invites");
      expect(invites.list("data.invites")).toEqual([
        expect.objectContaining({ id: invited.string("data.id"), state: "expired" }),
      ]);
      const link = await client.post(`/api/admin/users/${made.string("data.id")}/reset-link`, {});
      const { pathname, searchParams } = new URL(link.string("data.url"));
      expect(pathname).toBe("/welcome");
      const token = searchParams.get("token") ?? "";
      expectStatus(await sendForm(copy, "/welcome", { token, password: newPassword }), 201);
    });
  });
});

test("emails with a link that wait in a backup are not sent after --sign-out", async () => {
  const invited = freshEmail();
  mails.behaviorByRecipient.set(invited, { status: 450, at: "recipient" });
  await withServer({ env }, async (server) => {
    const { client } = await server.addUser(["--admin"]);
    expectStatus(await client.post("/api/admin/invites", { role: "user", email: invited }), 201);
    await eventually("the mail server has rejected the invitation", () => mails.attempts.includes(invited));
    const { dataDir } = await restore(await backUp(server), ["--sign-out"]);
    const database = new Database(join(dataDir, "larder.db"), { readonly: true });
    const mail = database.query("SELECT state, text, html FROM mails WHERE recipient = ?1").get(invited);
    database.close();
    expect(mail).toEqual({ state: "expired", text: "", html: "" });
  });
});

test("browsers and phones that were subscribed don't receive what is shared after --sign-out", async () => {
  await withServer({ env: pushEnv }, async (server) => {
    const [owner, account] = [await server.signUp(), await server.signUp()];
    const config = await account.client.get("/api/users/notifications/config");
    const browser = new WebPushService(config.string("data.vapidPublicKey"));
    const topic = new UrlPushService();
    await Promise.all([browser.start(), topic.start()]);
    try {
      const pushToken = `${topic.url}/a-topic`;
      expectStatus(
        await account.client.post("/api/users/push-subscriptions", { pushToken: browser.subscription() }),
        200,
      );
      await registerDevice(server, account, undefined, { pushToken });
      const backup = await backUp(server);
      await server.stop();
      for (const flags of [[], ["--sign-out"]]) {
        const { dataDir } = await restore(backup, flags);
        await withServer({ dataDir, env: pushEnv }, async (copy) => {
          const [before, beforeTopic] = [browser.received.length, topic.received.length];
          const signedIn = await copy.visitor.post("/api/auth/signin", credentials(owner));
          const client = new Client(copy, signedIn.string("token"));
          // A phone that registers now shows when the messages were sent.
          const fresh = new UrlPushService();
          await fresh.start();
          await registerDevice(copy, account, undefined, { pushToken: `${fresh.url}/another` });
          await shareWith(client, await client.storedId("x", { name: "x.txt" }), account);
          const isShare = ({ title }: { title: string }) => title === "File shared with you";
          await eventually("the message arrives", () => fresh.received.some(isShare));
          const sent = () => [
            browser.received.slice(before).filter(isShare).length,
            topic.received.slice(beforeTopic).filter(isShare).length,
          ];
          if (flags.length === 0) await eventually("the others arrive", () => sent().join() === "1,1");
          await copy.stop();
          expect(sent()).toEqual(flags.length === 0 ? [1, 1] : [0, 0]);
          await fresh.stop();
        });
      }
    } finally {
      await Promise.all([browser.stop(), topic.stop()]);
    }
  });
});
