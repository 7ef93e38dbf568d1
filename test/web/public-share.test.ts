import { expect, test } from "bun:test";
import type { Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { describeWeb } from "./support/browser.ts";

async function share(client: Client, path: string, settings: object = {}): Promise<{ id: string; token: string }> {
  const made = await client.post(`/api/files/${path}/shares`, settings);
  expectStatus(made, 201);
  return { id: made.string("data.id"), token: made.string("data.token") };
}

/** A folder with images, a text and a subfolder, shared by a link. */
async function sharedTrip(client: Client, settings: object = {}) {
  const folder = await client.folderId("Trip");
  for (const name of ["a beach.jpg", "b harbour.jpg", "c hills.jpg"]) {
    await client.storedId(await jpegPhoto(640, 480), { name, fields: { folder: "/Trip" } });
  }
  await client.storedId("Train at nine.\n<script>alert(1)</script>", { name: "plan.txt", fields: { folder: "/Trip" } });
  await client.storedId("deeper", { name: "deep.txt", fields: { folder: "/Trip/More" } });
  return share(client, `folders/${folder}`, settings);
}

describeWeb("the shared folder page", (web) => {
  test("is a gallery of images, viewed one after another, also by keyboard", async () => {
    const { client } = await web.account();
    const { token } = await sharedTrip(client);
    const page = await web.open({ path: `/s/${token}` });
    await page.getByRole("heading", { level: 1, name: "Trip" }).waitFor();
    await page.waitForFunction(() => [...document.images].every((image) => image.complete && image.naturalWidth > 0));
    await web.lookAt(page, "public-folder");
    await page.getByRole("link", { name: "a beach.jpg", exact: true }).click();
    const viewer = page.getByRole("dialog", { name: "Preview" });
    await viewer.getByRole("heading", { name: /^a beach\.jpg \(1 of 4\)/ }).waitFor();
    await viewer.getByRole("img", { name: "a beach.jpg" }).waitFor();
    await web.lookAt(page, "public-viewer");
    await page.keyboard.press("ArrowRight");
    await viewer.getByRole("heading", { name: /^b harbour\.jpg/ }).waitFor();
    await page.keyboard.press("End");
    // The title used to begin with the placeholder symbol.
    await viewer.getByRole("heading", { name: /^plan\.txt \(4 of 4\)/ }).waitFor();
    // A text is shown as text: nothing in it runs.
    await viewer.getByText("Train at nine.").waitFor();
    expect(await viewer.locator(".text").textContent()).toContain("<script>alert(1)</script>");
    await page.keyboard.press("Home");
    await viewer.getByRole("heading", { name: /^a beach\.jpg/ }).waitFor();
    await page.keyboard.press("Escape");
    await viewer.waitFor({ state: "hidden" });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("a beach.jpg");
    // Back closes the viewer, and stays on the page.
    await page.keyboard.press("Enter");
    await viewer.getByRole("heading", { name: /^a beach\.jpg/ }).waitFor();
    await page.goBack();
    await viewer.waitFor({ state: "hidden" });
    expect(new URL(page.url()).pathname).toBe(`/s/${token}`);
  });

  test("stays open if another file is opened before the browser has gone back from the last one", async () => {
    const { client } = await web.account();
    const { token } = await sharedTrip(client);
    const page = await web.open({ path: `/s/${token}` });
    // The browser goes back when the test says so, and then to the requested page.
    await page.evaluate(() => {
      const push = window.history.pushState.bind(window.history);
      let depth = 0;
      window.history.pushState = (...given) => {
        depth++;
        push(...given);
      };
      window.history.back = () => {
        Reflect.set(window, "goBack", () => window.history.go(-depth));
      };
    });
    const viewer = page.getByRole("dialog", { name: "Preview" });
    await page.getByRole("link", { name: "a beach.jpg", exact: true }).click();
    await viewer.getByRole("heading", { name: /^a beach\.jpg/ }).waitFor();
    await page.keyboard.press("Escape");
    await viewer.waitFor({ state: "hidden" });
    await page.getByRole("link", { name: "c hills.jpg", exact: true }).click();
    await page.evaluate(async () => {
      const returned = new Promise((resolve) => window.addEventListener("popstate", resolve, { once: true }));
      (Reflect.get(window, "goBack") as () => void)();
      await returned;
    });
    await viewer.getByRole("heading", { name: /^c hills\.jpg/ }).waitFor();
    expect(await page.evaluate(() => document.querySelector("dialog")?.open)).toBe(true);
    await page.goBack();
    await viewer.waitFor({ state: "hidden" });
    expect(new URL(page.url()).pathname).toBe(`/s/${token}`);
  });

  test("opens a file even if the browser never goes back from the last one", async () => {
    const { client } = await web.account();
    const { token } = await sharedTrip(client);
    const page = await web.open({ path: `/s/${token}` });
    await page.evaluate(() => {
      window.history.back = () => undefined;
    });
    const viewer = page.getByRole("dialog", { name: "Preview" });
    await page.getByRole("link", { name: "a beach.jpg", exact: true }).click();
    await viewer.getByRole("heading", { name: /^a beach\.jpg/ }).waitFor();
    await page.keyboard.press("Escape");
    await viewer.waitFor({ state: "hidden" });
    await page.getByRole("link", { name: "b harbour.jpg", exact: true }).click();
    await viewer.getByRole("heading", { name: /^b harbour\.jpg/ }).waitFor();
  });

  test("downloads the selected files as a ZIP, which the browser saves itself", async () => {
    const { client } = await web.account();
    const { id, token } = await sharedTrip(client);
    const page = await web.open({ path: `/s/${token}?view=list` });
    await web.lookAt(page, "public-folder-list");
    const submit = page.locator(".chosen button[type=submit]");
    await page.getByRole("button", { name: "Select all on this page" }).waitFor();
    expect(await submit.isDisabled()).toBe(true);
    await page.getByRole("checkbox", { name: "Select a beach.jpg" }).focus();
    await page.keyboard.press("Space");
    await page.getByRole("checkbox", { name: "Select c hills.jpg" }).click({ modifiers: ["Shift"] });
    expect(await submit.textContent()).toBe("Download 3 items as ZIP");
    const [download] = await Promise.all([page.waitForEvent("download"), submit.click()]);
    expect(download.suggestedFilename()).toEndWith(".zip");
    const zip = await Bun.file(await download.path()).text();
    for (const name of ["a beach.jpg", "b harbour.jpg", "c hills.jpg"]) expect(zip).toContain(name);
    expect(zip).not.toContain("plan.txt");
    await eventually("it is counted", async () => (await client.get(`/api/shares/${id}`)).at("data.downloads") === 1);
  });

  test("works without script: pages, checkboxes, downloads", async () => {
    const { client } = await web.account();
    const { token } = await sharedTrip(client);
    const page = await web.open({ path: `/s/${token}`, context: { javaScriptEnabled: false }, size: "phone" });
    await page.getByRole("link", { name: "More/" }).click();
    await page.getByRole("link", { name: "deep.txt", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "deep.txt" }).waitFor();
    await page.goto(new URL(`/s/${token}`, page.url()).href);
    await page.getByRole("checkbox", { name: "Select plan.txt" }).check();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download selected as ZIP" }).click(),
    ]);
    expect(await Bun.file(await download.path()).text()).toContain("Train at nine.");
  });

  test("that is ended while it is open shows a message at the next step", async () => {
    const { client } = await web.account();
    const { id, token } = await sharedTrip(client);
    const page = await web.open({ path: `/s/${token}` });
    await page.getByRole("heading", { level: 1, name: "Trip" }).waitFor();
    expectStatus(await client.delete(`/api/shares/${id}`), 200);
    await page.getByRole("link", { name: "plan.txt", exact: true }).click();
    const viewer = page.getByRole("dialog", { name: "Preview" });
    await viewer.getByText("The link may have expired").waitFor();
    await page.keyboard.press("Escape");
    await viewer.waitFor({ state: "hidden" });
    // The browser has gone back, which must not overtake the link.
    await page.waitForFunction(() => window.history.state === null);
    await page.getByRole("link", { name: "More/" }).click();
    await page.getByRole("heading", { name: "Link not found" }).waitFor();
    await web.lookAt(page, "public-gone");
  });
});

describeWeb("a link with limits", (web) => {
  test("asks for its password in place, and opens", async () => {
    const { client } = await web.account();
    const id = await client.storedId("the salary", { name: "salary.txt" });
    const { id: shareId, token } = await share(client, id, { password: "open sesame" });
    const page = await web.open({ path: `/s/${token}`, size: "phone" });
    await page.getByLabel("Password").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("password is wrong").waitFor();
    expect(await page.getByLabel("Password").inputValue()).toBe("");
    await web.lookAt(page, "public-locked");
    await page.getByLabel("Password").fill("open sesame");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("heading", { level: 1, name: "salary.txt" }).waitFor();
    // Nothing is fetched before the person asks for it, because it counts as a download.
    expect(await page.getByText("the salary").count()).toBe(0);
    await page.getByRole("button", { name: "Show text" }).click();
    await page.getByRole("region", { name: "File content" }).getByText("the salary").waitFor();
    await web.lookAt(page, "public-file");
    // Opening the link with its password used to be counted twice.
    const counted = (what: string) =>
      client.get(`/api/shares/${shareId}`).then((response) => response.at(`data.${what}`));
    await eventually("it is counted", async () => (await counted("downloads")) === 1);
    expect(await counted("views")).toBe(1);
  });

  test("asks for its password without script, too", async () => {
    const { client } = await web.account();
    const { token } = await share(client, await client.storedId("x", { name: "salary.txt" }), {
      password: "open sesame",
    });
    const page = await web.open({ path: `/s/${token}`, context: { javaScriptEnabled: false } });
    await page.getByLabel("Password").fill("wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("password is wrong").waitFor();
    await page.getByLabel("Password").fill("open sesame");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("heading", { level: 1, name: "salary.txt" }).waitFor();
  });

  test("shows when it has expired, and when its downloads are used up", async () => {
    const { client } = await web.account();
    const id = await client.storedId("x", { name: "salary.txt" });
    const expired = await share(client, id, { expiresIn: "1s" });
    const used = await share(client, id, { maxDownloads: 1 });
    const page = await web.open({ path: `/s/${used.token}` });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download" }).click(),
    ]);
    expect(await Bun.file(await download.path()).text()).toBe("x");
    await page.reload();
    await page.getByRole("heading", { name: "This link has reached its download limit" }).waitFor();
    await eventually("it expires", async () => (await client.get(`/s/${expired.token}`)).status === 410);
    await page.goto(new URL(`/s/${expired.token}`, page.url()).href);
    await page.getByRole("heading", { name: "This link has expired" }).waitFor();
    await web.lookAt(page, "public-expired");
  });
});
