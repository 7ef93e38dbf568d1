import { expect, test } from "bun:test";
import { Client, freshEmail } from "../support/client.ts";
import { describeWeb, type Web } from "./support/browser.ts";
import { password } from "./support/sign-in.ts";

describeWeb("the sign-up page with open sign-up", (web) => {
  test("creates an account and signs it in", async () => {
    await web.account();
    const page = await web.open({ path: "/sign-in" });
    await page.getByRole("link", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Create account" }).waitFor();
    const email = freshEmail();
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Your name").fill("Grace Hopper");
    await password(page).fill("short");
    await page.getByText("Too short. Use at least 8 characters.").waitFor();
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("Password must have at least 8 characters.").waitFor();
    await web.lookAt(page, "sign-up");
    await password(page).fill("four unrelated words here");
    await page.getByText("Very good.").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/home$/);
    await page.goto(page.url().replace(/\/home$/, "/settings/profile"));
    await page.getByLabel("Email address").waitFor();
    expect(await page.getByLabel("Email address").inputValue()).toBe(email);
    expect(await page.getByLabel("Your name").inputValue()).toBe("Grace Hopper");
  });

  test("shows at the field that the email has an account already", async () => {
    const { email } = await web.account();
    const page = await web.open({ path: "/sign-up" });
    await page.getByLabel("Email").fill(email);
    await password(page).fill("four unrelated words here");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    expect(await page.getByLabel("Email").getAttribute("aria-invalid")).toBe("true");
  });
});

describeWeb(
  "the sign-up page, where sign-up is by invitation",
  (web) => {
    test("accepts the link or the code of an invitation; the invitation page works without script", async () => {
      await addAccount(web);
      const made = await web.server().larder(["user", "invite", "--json"]);
      expect(made.code).toBe(0);
      const { url } = readLink(made.stdout);
      const page = await web.open({ path: "/sign-up" });
      await page.getByLabel("Email").fill(freshEmail());
      await password(page).fill("four unrelated words here");
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByText("Enter your invitation code.").waitFor();
      await page.getByLabel("Invitation").fill("not one of ours");
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByRole("alert").filter({ hasText: "invitation" }).first().waitFor();
      await web.lookAt(page, "sign-up-invite");
      await page.getByLabel("Invitation").fill(url);
      await page.getByRole("button", { name: "Create account" }).click();
      await page.waitForURL(/\/home$/);
    });

    test("the invitation page creates the account and signs it in, without script", async () => {
      const made = await web.server().larder(["user", "invite", "--json"]);
      const { url } = readLink(made.stdout);
      const { pathname, search } = new URL(url);
      const page = await web.open({ path: pathname + search, context: { javaScriptEnabled: false } });
      await page.getByRole("heading", { name: "You are invited" }).waitFor();
      await page.getByLabel("Email").fill(freshEmail());
      await page.getByLabel("Password", { exact: true }).fill("four unrelated words here");
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByRole("heading", { name: "Welcome to Larder" }).waitFor();
      const cookies = await page.context().cookies();
      const session = cookies.find(({ name }) => name === "larder_session");
      expect(session?.httpOnly).toBe(true);
      const response = await new Client(web.server(), session?.value).get("/api/auth/session");
      expect(response.status).toBe(200);
    });

    test("a used invitation shows a message", async () => {
      const page = await web.open({ path: "/invite?token=gone" });
      await page.getByRole("heading", { name: "This invitation does not work" }).waitFor();
      await web.lookAt(page, "invite-gone");
    });

    test("the invitation page looks right", async () => {
      const made = await web.server().larder(["user", "invite", "--json"]);
      const { pathname, search } = new URL(readLink(made.stdout).url);
      const page = await web.open({ path: pathname + search });
      await web.lookAt(page, "invite");
      await page.getByLabel("Email").fill(freshEmail());
      const field = page.getByLabel("Password", { exact: true });
      await field.fill("secret");
      await page.getByText("Too short.").waitFor();
      await field.fill("four unrelated words here");
      await page.getByText("Very good.").waitFor();
      await page.getByRole("button", { name: "Show password" }).click();
      expect(await field.getAttribute("type")).toBe("text");
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByRole("link", { name: "Open Larder" }).waitFor();
      await web.lookAt(page, "invite-done");
      await page.getByRole("link", { name: "Open Larder" }).click();
      await page.waitForURL(/\/home$/);
    });
  },
  { env: { LARDER_SIGNUP: "invite" }, hasAccounts: false },
);

describeWeb(
  "the sign-up page, where sign-up is closed",
  (web) => {
    test("says whom to ask", async () => {
      await addAccount(web);
      const page = await web.open({ path: "/sign-up" });
      await page.getByRole("heading", { name: "Sign-up is turned off" }).waitFor();
      await web.lookAt(page, "sign-up-closed");
      await page.getByRole("link", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(await page.getByRole("link", { name: "Create account" }).count()).toBe(0);
    });
  },
  { env: { LARDER_SIGNUP: "closed" }, hasAccounts: false },
);

/** With sign-up closed, the command line creates the first account. */
async function addAccount(web: Web): Promise<void> {
  const args = ["user", "add", freshEmail(), "--password-stdin"];
  const { code } = await web.server().larder(args, { stdin: "four unrelated words here" });
  expect(code).toBe(0);
}

function readLink(json: string): { url: string } {
  const output: unknown = JSON.parse(json);
  const url: unknown = typeof output === "object" && output !== null ? Reflect.get(output, "url") : undefined;
  if (typeof url !== "string") throw new Error(`no url in ${json}`);
  return { url };
}
