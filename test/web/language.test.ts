// The choice of a language: it applies to the page, to the account, and to the pages of the server.
import { expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { describeWeb } from "./support/browser.ts";

describeWeb("the language", (web) => {
  test("is chosen for this browser, for the account, and for pages without a sign-in", async () => {
    const account = await web.account();
    const language = async () => (await account.client.get("/api/users/settings")).at("data.language");
    const page = await web.open({ as: account, path: "/settings/appearance" });
    const saved = page.waitForResponse((response) => response.url().endsWith("/api/users/settings"));
    await page.getByRole("combobox", { name: "Language" }).selectOption("de");
    await saved;
    await page.getByRole("heading", { name: "Sprache" }).waitFor();
    expect(await language()).toBe("de");
    const [cookie] = (await page.context().cookies()).filter(({ name }) => name === "larder_language");
    expect(cookie).toMatchObject({ value: "de", path: "/", sameSite: "Lax", httpOnly: false });

    const visitor = await page.context().newPage();
    await visitor.goto(new URL("/reset-password?token=none", page.url()).href);
    await visitor.getByRole("heading", { name: "Dieser Link funktioniert nicht" }).waitFor();
    await visitor.close();

    await page.getByRole("combobox", { name: "Sprache" }).selectOption("");
    await page.getByRole("heading", { name: "Language" }).waitFor();
    expect(await language()).toBe("en");
    expect((await page.context().cookies()).some(({ name }) => name === "larder_language")).toBe(false);
  });

  test("of the sign-in page is that of the browser, also in the parts that its script shows", async () => {
    const account = await web.account();
    const page = await web.open({ path: "/sign-in", context: { locale: "de-DE" } });
    await page.getByRole("button", { name: "Anmelden", exact: true }).click();
    await page.getByText("Gib deine E-Mail-Adresse ein.").waitFor();
    await page.getByRole("button", { name: "Passwort anzeigen" }).click();
    await page.getByText("Verbergen", { exact: true }).waitFor();
    await page.goto(new URL("/sign-in", page.url()).href);
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("de");
    await page.getByLabel("E-Mail").fill(account.email);
    await page.getByLabel("Passwort", { exact: true }).fill(account.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Start" }).waitFor();
  });

  // The page stayed empty.
  test("is English if its texts can't be loaded", async () => {
    const context = { locale: "de-DE", serviceWorkers: "block" } as const;
    const page = await web.open({ as: await web.account(), context });
    await page.route("**/client-*.js", (route) => route.abort());
    web.expectProblems(page, /./);
    await page.goto(new URL("/trash", page.url()).href);
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("en");
  });

  // Names in Latin letters were at the left edge.
  test("of a shared folder mirrors the page, with names at its beginning", async () => {
    const { client } = await web.account();
    const id = await client.folderId("Lake");
    const share = await client.post(`/api/files/folders/${id}/shares`, {});
    const page = await web.open({ path: `/s/${share.string("data.token")}` });
    await page.context().addCookies([{ name: "larder_language", value: "ar-XB", url: page.url() }]);
    await page.reload();
    const heading = page.getByRole("heading", { level: 1, name: "Lake" });
    const fact = page.getByText("[Földér]");
    const [endOfName, endOfFact] = await Promise.all(
      [heading, fact].map(async (element) =>
        element.evaluate((found) => {
          const range = document.createRange();
          range.selectNodeContents(found);
          return range.getBoundingClientRect().right;
        }),
      ),
    );
    expect(endOfName).toBeCloseTo(endOfFact ?? 0, 0);
  });

  test("from right to left leaves what is for programs from left to right", async () => {
    const directionOf = async (found: Locator) => found.evaluate((element) => getComputedStyle(element).direction);
    const page = await web.open({ as: await web.account(), path: "/trash" });
    await page.evaluate(() => localStorage.setItem("larder-locale", "ar-XB"));
    await page.context().addCookies([{ name: "larder_language", value: "ar-XB", url: page.url() }]);
    const open = async (path: string) => page.goto(new URL(path, page.url()).href);

    // A slash at the end of an address was at its beginning.
    await open("/settings/connect");
    const address = page.getByRole("textbox", { name: "[Sérvér áddréss]" });
    expect(await address.inputValue()).toStartWith("http://127.0.0.1");
    const ofAddress = await directionOf(address);
    await open("/settings/account");
    const ofCommand = await directionOf(page.getByText("larder export", { exact: true }));
    expect(await directionOf(page.locator("html"))).toBe("rtl");
    await open("/setup?token=gone");
    const ofServerPage = await directionOf(page.getByText("larder user setup-link", { exact: true }));
    expect(await directionOf(page.locator("html"))).toBe("rtl");
    expect({ ofAddress, ofCommand, ofServerPage }).toEqual({ ofAddress: "ltr", ofCommand: "ltr", ofServerPage: "ltr" });
  });

  test("of a drop box is that of the visitor", async () => {
    const { client } = await web.account();
    const id = await client.folderId("box");
    const share = await client.post(`/api/files/folders/${id}/shares`, { permissions: "upload" });
    const page = await web.open({ path: `/s/${share.string("data.token")}`, context: { locale: "de-DE" } });
    await page.getByRole("heading", { name: "Dateien hochladen" }).waitFor();
    await page.getByText("Ziehe Dateien oder Ordner hierher.").waitFor();
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
    await page.getByText("1 Datei hochgeladen. Danke.").waitFor();
    await page.getByText("Hochgeladen, 1 Byte").waitFor();
  });
});
