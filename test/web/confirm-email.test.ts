// What a person with an unconfirmed email sees, the page behind the link, and what administrators see.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { MailServer } from "../support/mail-server.ts";
import { describeWeb } from "./support/browser.ts";
import { prove } from "./support/proof.ts";

const mails = new MailServer();
const env: Record<string, string> = {
  LARDER_MAIL_HOST: "127.0.0.1",
  LARDER_MAIL_SECURE: "none",
  LARDER_MAIL_FROM: "Larder <larder@example.test>",
  LARDER_MAIL_VERIFY: "on",
  LARDER_PUBLIC_URL: "http://files.example.test",
};
beforeAll(async () => {
  await mails.start();
  env["LARDER_MAIL_PORT"] = String(mails.port);
});
afterAll(() => mails.stop());

const linkIn = (text: string | undefined) => /\/confirm-email\?token=[\w-]+/.exec(text ?? "")?.[0] ?? "";

describeWeb(
  "an unconfirmed email",
  (web) => {
    test("has a notice that sends the email again, and disappears once the link was used", async () => {
      const account = await web.account();
      const page = await web.open({ as: account });
      const notice = page.getByRole("region", { name: "Confirm your email address" });
      await notice.getByText(account.email).waitFor();
      await web.lookAt(page, "confirm-email-notice");
      await notice.getByRole("button", { name: "Send again" }).click();
      await page.getByText("We sent an email to").waitFor();
      const mail = await mails.waitForMail(account.email, 2);

      const link = await web.open({ path: linkIn(mail.parsed.text), context: { javaScriptEnabled: false } });
      await link.getByText(account.email).waitFor();
      await link.getByRole("button", { name: "Confirm email address" }).click();
      await link.getByRole("heading", { name: "Email address confirmed" }).waitFor();

      await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      await notice.waitFor({ state: "detached" });
      await page.getByText("Email address confirmed.").waitFor();
    });

    test("explains why no more emails are sent", async () => {
      const account = await web.account();
      for (let count = 0; count < 2; count++) await account.client.post("/api/auth/email/send");
      const page = await web.open({ as: account });
      web.expectProblems(page, /429/);
      await page.getByRole("button", { name: "Send again" }).click();
      await page.getByText("You have requested three emails within an hour").waitFor();
    });

    test("the page behind the link looks right: open, done and expired", async () => {
      const account = await web.account();
      const mail = await mails.waitForMail(account.email);
      const page = await web.open({ path: linkIn(mail.parsed.text) });
      await page.getByRole("button", { name: "Confirm email address" }).waitFor();
      await web.lookAt(page, "confirm-email");
      const address = page.url();
      await page.keyboard.press("Tab");
      await page.getByRole("button", { name: "Confirm email address" }).press("Enter");
      await page.getByRole("link", { name: "Open Larder" }).waitFor();
      await web.lookAt(page, "confirm-email-done");
      web.expectProblems(page, /404/);
      await page.goto(address);
      await page.getByRole("heading", { name: "This link does not work" }).waitFor();
      await web.lookAt(page, "confirm-email-gone");
    });

    test("administrators see it in the list of users, and confirm it", async () => {
      const account = await web.account();
      const admin = await web.server().addUser(["--admin", "--name", "Root"]);
      const page = await web.open({ as: admin, path: "/admin/users" });
      const row = page.getByRole("row").filter({ hasText: account.email });
      await row.getByText("Email not confirmed").waitFor();
      expect(await page.getByRole("region", { name: "Confirm your email address" }).count()).toBe(0);
      await web.lookAt(page, "admin-users-unconfirmed");
      await row.getByRole("button", { name: /^Actions for/ }).click();
      await page.getByRole("menuitem", { name: "Confirm email" }).click();
      const question = page.getByRole("alertdialog");
      await question.getByText(account.email).waitFor();
      await web.lookAt(page, "admin-confirm-email");
      web.expectProblems(page, /401/);
      await question.getByRole("button", { name: "Confirm email" }).click();
      await prove(page, admin.password);
      await page.getByText(`${account.email} confirmed.`).waitFor();
      await row.getByText("Email not confirmed").waitFor({ state: "detached" });
      expect((await account.client.get("/api/users/profile")).at("data.emailVerified")).toBe(true);
    });
  },
  { env, hasAccounts: false },
);
