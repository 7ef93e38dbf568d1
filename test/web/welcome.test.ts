// A new person opens the link of an administrator.
import { expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import { freshEmail } from "../support/client.ts";
import { row } from "./files-helpers.ts";
import { describeWeb, type Web } from "./support/browser.ts";

/** A new account, and the path of its link. */
async function addPerson(
  web: Web,
  name: string,
  email = freshEmail(),
): Promise<{ readonly email: string; readonly path: string }> {
  const admin = await web.server().addUser(["--admin"]);
  const url = (await admin.client.post("/api/admin/users", { email, name })).string("data.passwordLink.url");
  return { email, path: url.slice(new URL(url).origin.length) };
}

describeWeb("the first page of a new person", (web) => {
  test("on a phone: chooses a password by touch, is signed in, and finds what others shared", async () => {
    const { email, path } = await addPerson(web, "Ben", "ben@example.org");
    const ann = await web.account("Ann");
    const family = await ann.client.folderId("Family");
    await ann.client.storedId("a", { name: "list.txt", fields: { folder: "/Family" } });
    await shareWith(ann.client, family, { email });
    const page = await web.open({ path, size: "phone" });
    await page.getByRole("heading", { name: "Welcome to Larder, Ben" }).waitFor();
    expect(await page.getByLabel("Email").inputValue()).toBe(email);
    await web.lookAt(page, "welcome-phone");
    const field = page.getByLabel("Password", { exact: true });
    await field.fill("secret");
    await page.getByText("Too short.").waitFor();
    await field.fill("several unrelated words");
    await page.getByText("Very good.").waitFor();
    await page.getByRole("button", { name: "Show password" }).tap();
    expect(await field.getAttribute("type")).toBe("text");
    await page.getByRole("button", { name: "Hide password" }).waitFor();
    await web.lookAt(page, "welcome-phone-filled");
    await page.getByRole("button", { name: "Start using Larder" }).tap();
    await page.getByRole("heading", { name: "You are signed in, Ben" }).waitFor();
    await web.lookAt(page, "welcome-phone-done");
    await page.getByRole("link", { name: "Open Larder" }).tap();
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    const shared = page.getByRole("region", { name: "Shared with me" });
    await shared.getByRole("link", { name: "Family" }).getByText("From Ann").waitFor();
    await web.lookAt(page, "welcome-phone-home");
    await shared.getByRole("link", { name: "Family" }).tap();
    await page.getByRole("heading", { level: 1, name: "Family" }).waitFor();
    await row(page, "list.txt").waitFor();
  });

  test("by keyboard in the dark theme, and the used link says what to do", async () => {
    const { path } = await addPerson(web, "Ada");
    const page = await web.open({ path, scheme: "dark" });
    await page.getByLabel("Password", { exact: true }).fill("several unrelated words");
    await web.lookAt(page, "welcome");
    await page.getByLabel("Password", { exact: true }).press("Enter");
    await page.getByRole("heading", { name: "You are signed in, Ada" }).waitFor();
    await web.lookAt(page, "welcome-done");
    const again = await web.open({ path });
    await again.getByRole("heading", { name: "This link does not work" }).waitFor();
    await web.lookAt(again, "welcome-gone");
  });

  test("works without script, and shows a problem at the field", async () => {
    const { path } = await addPerson(web, "Cy");
    const page = await web.open({ path, context: { javaScriptEnabled: false } });
    const field = page.getByLabel("Password", { exact: true });
    await field.evaluate((element) => element.removeAttribute("minlength"));
    await field.fill("short");
    await page.getByRole("button", { name: "Start using Larder" }).click();
    await page.getByRole("alert").getByText("A password must have 8 to 256 characters").waitFor();
    await field.fill("several unrelated words");
    await page.getByRole("button", { name: "Start using Larder" }).click();
    await page.getByRole("heading", { name: "You are signed in, Cy" }).waitFor();
  });

  test("names the person who is signed in in this browser, whose tabs become the new person's", async () => {
    const ann = await web.account("Ann");
    const { path } = await addPerson(web, "Dora");
    const tab = await web.open({ as: ann, path: "/files" });
    const page = await tab.context().newPage();
    await page.goto(new URL(path, tab.url()).href);
    await page.getByText(`${ann.email} is signed in`).waitFor();
    await web.lookAt(page, "welcome-other");
    await page.getByLabel("Password", { exact: true }).fill("several unrelated words");
    await page.getByRole("button", { name: "Start using Larder" }).click();
    await page.getByRole("heading", { name: "You are signed in, Dora" }).waitFor();
    // The tab reloads, and then is the new person's.
    await tab.getByRole("button", { name: /Dora/ }).waitFor();
  });
});
