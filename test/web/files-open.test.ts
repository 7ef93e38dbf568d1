// From the list to a file, and back to the same position.
import { test } from "bun:test";
import { expectFocus, expectSelected, row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey, untilFocused } from "./support/focus.ts";

describeWeb("opening files", (web) => {
  test("with Enter; navigating in the preview moves the cursor of the list", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    for (const name of ["a.txt", "b.txt", "c.txt"]) await account.client.stored(`words of ${name}`, { name });
    const page = await web.open({ as: account });
    await row(page, "a.txt").click();
    await page.keyboard.press("Enter");
    const preview = page.getByRole("dialog");
    await preview.getByText("words of a.txt").waitFor();
    await untilFocused(page);
    await page.keyboard.press("ArrowRight");
    await preview.getByText("words of b.txt").waitFor();
    await closeByKey(page, preview);
    await expectFocus(page, "b.txt");
  });

  test("details open and close by a key, and follow the selection", async () => {
    const account = await web.account();
    for (const name of ["a.txt", "b.txt"]) await account.client.stored(name, { name });
    const page = await web.open({ as: account });
    await row(page, "a.txt").click();
    await page.keyboard.press("i");
    await page.getByRole("region", { name: /a\.txt/ }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.getByRole("region", { name: /b\.txt/ }).waitFor();
    await web.lookAt(page, "files-details");
    await expectFocus(page, "b.txt");
    await page.keyboard.press("i");
    await page.getByRole("region", { name: /b\.txt/ }).waitFor({ state: "detached" });
    await expectSelected(page, 1);
  });

  test("sharing is offered for one entry and for several, and returns the focus", async () => {
    const account = await web.account();
    for (const name of ["a.txt", "b.txt"]) await account.client.stored(name, { name });
    const page = await web.open({ as: account });
    await row(page, "a.txt").click();
    await page.getByRole("toolbar").getByRole("button", { name: "Share" }).click();
    const dialog = page.getByRole("dialog", { name: /a\.txt/ });
    await closeByKey(page, dialog);
    await expectFocus(page, "a.txt");
    await page.keyboard.press("Shift+ArrowDown");
    await expectSelected(page, 2);
    await page.getByRole("toolbar").getByRole("button", { name: "Share" }).click();
    await page.getByRole("dialog", { name: /^Share 2/ }).waitFor();
  });

  test("a list that can't be loaded shows the error and can be retried", async () => {
    const account = await web.account();
    await account.client.stored("a", { name: "a.txt" });
    const page = await web.open({ as: account, path: "/trash", hasOwnClock: true });
    await page.getByText("Trash is empty").waitFor();
    await page.route("**/api/files?*", (route) => route.abort());
    // Otherwise the page finds within two seconds that the server is reachable, and retries automatically.
    await page.route(/\/health\/live|\/api\/users\/notifications/, (route) => route.abort());
    const nextFailure = () => page.waitForEvent("requestfailed", (request) => request.url().includes("order=asc"));
    let failure = nextFailure();
    await page.getByRole("link", { name: "Files", exact: true }).click();
    // It retries four times, each time after a longer wait. Its next poll would come after 30 seconds.
    for (const waitMs of [1_000, 2_000, 4_000, 8_000]) {
      await failure;
      failure = nextFailure();
      await page.clock.fastForward(waitMs);
    }
    await failure;
    const again = page.getByRole("main").getByRole("button", { name: "Try again" });
    await again.waitFor();
    await page.unroute("**/api/files?*");
    await again.click();
    await row(page, "a.txt").waitFor();
  });
});
