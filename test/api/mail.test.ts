import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { freshEmail } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { certificateFile, MailServer } from "../support/mail-server.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";

const publicUrl = "http://files.example.test";
const mails = new MailServer();
const settings = (of: MailServer): Record<string, string> => ({
  LARDER_MAIL_HOST: "127.0.0.1",
  LARDER_MAIL_PORT: String(of.port),
  LARDER_MAIL_CA_FILE: certificateFile,
  LARDER_MAIL_FROM: "Larder at home <larder@example.test>",
  LARDER_MAIL_USER: "larder",
  LARDER_MAIL_PASSWORD: of.password,
  LARDER_PUBLIC_URL: publicUrl,
});
const env: Record<string, string> = {};
beforeAll(async () => {
  await mails.start();
  Object.assign(env, settings(mails));
});
const server = sharedServer({ hasAccounts: true, env });
afterAll(() => mails.stop());

/** Starts a mail server, and a Larder server that sends through it. */
async function withMail(
  use: (server: TestServer, mails: MailServer) => Promise<void>,
  options: { smtp?: ConstructorParameters<typeof MailServer>[0]; env?: Record<string, string> } = {},
): Promise<void> {
  const own = new MailServer(options.smtp);
  await own.start();
  try {
    await withServer({ hasAccounts: true, env: { ...settings(own), ...options.env } }, (started) => use(started, own));
  } finally {
    await own.stop();
  }
}

const forgot = async (of: TestServer, email: string) =>
  expectStatus(await of.visitor.post("/api/auth/password/forgot", { email }), 200);

/** Creates an API key, which causes an email to the account. */
const makeKey = async (account: Awaited<ReturnType<TestServer["signUp"]>>, name: string) =>
  expectStatus(await account.client.post("/api/users/api-keys", { name, currentPassword: account.password }), 201);

describe("an email", () => {
  test("is sent encrypted and authenticated, as text and HTML, and marked as generated", async () => {
    const { email } = await server().signUp();
    await forgot(server(), email);
    const mail = await mails.waitForMail(email);
    expect(mail.isEncrypted).toBe(true);
    expect(mail.user).toBe("larder");
    expect(mail.from).toBe("larder@example.test");
    const { parsed } = mail;
    expect(parsed.from).toMatchObject({ address: "larder@example.test", name: "Larder at home" });
    expect(parsed.to).toMatchObject([{ address: email }]);
    expect(parsed.subject).toBe("Reset your password");
    expect(parsed.text).toContain(`${publicUrl}/reset-password?token=`);
    expect(parsed.html).toContain(`href="${publicUrl}/reset-password?token=`);
    expect(parsed.messageId).toMatch(/^<[A-Za-z0-9_-]{22}@example\.test>$/);
    expect(Math.abs(Date.parse(parsed.date ?? "") - Date.now())).toBeLessThan(60_000);
    expect(mail.raw).toMatch(/^Auto-Submitted: auto-generated\r?$/m);
    expect(mail.raw).toContain("multipart/alternative");
  });

  test("contains no injected header, and no link from a name", async () => {
    const account = await server().signUp();
    await makeKey(account, "a key <b>x</b> https://evil.example/?a");
    const { parsed, raw } = await mails.waitForMail(account.email);
    expect(parsed.text).not.toContain("https://evil.example");
    expect(parsed.text).not.toContain("evil.example");
    expect(parsed.html).not.toContain("<b>x</b>");
    expect(raw.split("\r\n\r\n")[0]).not.toMatch(/^bcc:/im);
  });

  test("preserves text in any script", async () => {
    const account = await server().signUp();
    await makeKey(account, "Schlüssel 鍵 🗝");
    expect((await mails.waitForMail(account.email)).parsed.text).toContain("Schlüssel 鍵 🗝");
  });
});

describe("notification emails", () => {
  test("report new API keys, unless the user turned off security", async () => {
    const account = await server().signUp();
    expectStatus(await account.client.put("/api/users/settings", { notifications: { security: false } }), 200);
    await makeKey(account, "unwanted");
    const change = { currentPassword: account.password, newPassword: "changed by hand" };
    expectStatus(await account.client.put("/api/users/profile", change), 200);
    // A changed password is always reported.
    expect((await mails.waitForMail(account.email)).parsed.subject).toBe("Your password was changed");
    expect(mails.received.filter(({ to }) => to.includes(account.email))).toHaveLength(1);
  });

  test("report new shares, unless the user turned off shares; people without an account get none", async () => {
    const [owner, recipient, unwilling] = [
      await server().signUp({ name: "Ada www.evil.example" }),
      await server().signUp(),
      await server().signUp(),
    ];
    expectStatus(await unwilling.client.put("/api/users/settings", { notifications: { shares: false } }), 200);
    const stranger = freshEmail();
    const id = await owner.client.storedId("content", { name: "holiday.txt" });
    for (const user of [unwilling.email, stranger, recipient.email])
      expectStatus(await owner.client.post(`/api/files/${id}/shares`, { user, permissions: "read" }), 201);
    const { parsed } = await mails.waitForMail(recipient.email);
    expect(parsed.subject).toBe("A file was shared with you");
    expect(parsed.text).toContain("“Ada www․evil․example” shared the file “holiday․txt” with you.");
    expect(mails.attempts).not.toContain(unwilling.email);
    expect(mails.attempts).not.toContain(stranger);
  });

  test("report that the storage is almost full", async () => {
    const account = await server().addUser(["--quota", "1000"]);
    await account.client.stored("x".repeat(960));
    expect((await mails.waitForMail(account.email)).parsed.subject).toBe("Your storage is 95% full");
  });

  test("about a changed email address go to the former address", async () => {
    const account = await server().signUp();
    const email = freshEmail();
    expectStatus(await account.client.put("/api/users/profile", { currentPassword: account.password, email }), 200);
    expect((await mails.waitForMail(account.email)).parsed.subject).toBe("Your email address was changed");
    expect(mails.attempts).not.toContain(email);
  });

  test("are limited to twenty an hour for one address", async () => {
    const account = await server().signUp();
    for (let count = 0; count < 22; count++) await makeKey(account, `key ${count}`);
    const other = await server().signUp();
    await makeKey(other, "the last");
    await mails.waitForMail(account.email, 20);
    await mails.waitForMail(other.email);
    expect(mails.received.filter(({ to }) => to.includes(account.email))).toHaveLength(20);
  });
});

describe("the connection to the mail server", () => {
  test.concurrent("can use TLS from the start", async () => {
    await withMail(
      async (own, taken) => {
        const { email } = await own.signUp();
        await forgot(own, email);
        expect((await taken.waitForMail(email)).isEncrypted).toBe(true);
      },
      { smtp: { secure: true }, env: { LARDER_MAIL_SECURE: "tls" } },
    );
  });

  test.concurrent("fails if the certificate is not trusted: nothing is sent, not even the password", async () => {
    await withMail(
      async (own, taken) => {
        const { email } = await own.signUp();
        await forgot(own, email);
        await eventually("the problem is logged", () => own.log.includes("Cannot use the mail server"));
        expect(taken.attempts).toEqual([]);
        expect(own.log).not.toContain(taken.password);
      },
      { env: { LARDER_MAIL_CA_FILE: "" } },
    );
  });

  test.concurrent("fails if it can't be encrypted", async () => {
    let hasSignedIn = false;
    await withMail(
      async (own, taken) => {
        const { email } = await own.signUp();
        await forgot(own, email);
        await eventually("the problem is logged", () => own.log.includes("Cannot use the mail server"));
        expect(taken.attempts).toEqual([]);
        expect(hasSignedIn).toBe(false);
      },
      {
        smtp: {
          disabledCommands: ["STARTTLS"],
          allowInsecureAuth: true,
          onAuth: (_auth, _session, callback) => {
            hasSignedIn = true;
            callback(null, { user: "larder" });
          },
        },
      },
    );
  });

  test.concurrent("prevents the start if the password would be sent unencrypted, or settings are missing", async () => {
    const own = { ...settings(mails), LARDER_MAIL_SECURE: "none", LARDER_MAIL_HOST: "mail.example.test" };
    const start = (env: Record<string, string>) => withServer({ env }, async () => {});
    await expect(start(own)).rejects.toThrow(/sent unencrypted/);
    await expect(start({ ...settings(mails), LARDER_MAIL_FROM: "" })).rejects.toThrow(/mail\.from is not/);
    await expect(start({ ...settings(mails), LARDER_PUBLIC_URL: "" })).rejects.toThrow(/publicUrl is not/);
    await expect(start({ ...settings(mails), LARDER_MAIL_PASSWORD: "" })).rejects.toThrow(/must be set together/);
    await expect(start({ ...settings(mails), LARDER_MAIL_FROM: "a@b.test\nBcc: c@d.test" })).rejects.toThrow(
      /LARDER_MAIL_FROM must/,
    );
  });
});

test("larder doctor reports whether the mail server accepts the sign-in", async () => {
  const mailLine = async (env: Record<string, string> = {}) => {
    const { stdout } = await server().larder(["doctor"], { env });
    return stdout.split("\n").find((line) => line.includes("  mail:"));
  };
  expect(await mailLine()).toBe("ok     mail: signed in to 127.0.0.1");
  expect(await mailLine({ LARDER_MAIL_PASSWORD: "wrong" })).toContain(
    "WRONG  mail: cannot send email through 127.0.0.1 (EAUTH 535",
  );
  expect(mails.received.some(({ parsed }) => parsed.subject === "")).toBe(false);
});

describe("if the mail server", () => {
  test.concurrent("rejects an email with 5xx, it is dropped and the others are sent", async () => {
    await withMail(async (own, taken) => {
      const [lost, found] = [await own.signUp(), await own.signUp()];
      taken.behaviorByRecipient.set(lost.email, { status: 550, at: "recipient" });
      await makeKey(lost, "one");
      await makeKey(found, "two");
      await taken.waitForMail(found.email);
      await eventually("the problem is logged", () => own.log.includes("The mail server rejected an email"));
      expect(own.log).not.toContain(lost.email);
      expect(taken.attempts.filter((to) => to === lost.email)).toHaveLength(1);
    });
  });

  test.concurrent("drops the connection during an email, the same email is sent again", async () => {
    await withMail(async (own, taken) => {
      const account = await own.signUp();
      taken.behaviors = ["cut"];
      await makeKey(account, "one");
      const mail = await taken.waitForMail(account.email);
      expect(taken.attempts.length).toBe(2);
      expect(taken.received).toHaveLength(1);
      expect(mail.parsed.text).toContain("one");
    });
  });

  test.concurrent("rejects the password, emails wait until it is accepted", async () => {
    await withMail(async (own, taken) => {
      const right = taken.password;
      taken.password = "another one";
      const account = await own.signUp();
      await makeKey(account, "one");
      await eventually("the problem is logged", () => own.log.includes("EAUTH 535"));
      expect(own.log).not.toContain(right);
      taken.password = right;
      await taken.waitForMail(account.email);
    });
  });

  test.concurrent("is down during a restart of Larder, no email is lost and none is sent twice", async () => {
    await withMail(async (own, taken) => {
      const account = await own.signUp();
      await taken.stop();
      for (const name of ["first", "second", "third"]) await makeKey(account, name);
      await eventually("the problem is logged", () => own.log.includes("Cannot use the mail server"));
      await own.kill9();
      await own.start();
      await taken.start();
      const texts = (await taken.waitForMails(3)).map(({ parsed }) => parsed.text ?? "");
      expect(texts.map((text) => /“(\w+)”/.exec(text)?.[1])).toEqual(["first", "second", "third"]);
      await own.restart();
      await forgot(own, account.email);
      await taken.waitForMails(4);
      expect(taken.received).toHaveLength(4);
    });
  });
});

testAllResponses(server);
