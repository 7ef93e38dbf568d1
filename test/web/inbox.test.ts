// The bell: notifications of the account in the web app.
import { test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import { describeWeb } from "./support/browser.ts";

describeWeb("the inbox", (web) => {
  test("shows notifications in the page, marks them as read, and works by keyboard", async () => {
    const [ann, ben] = [await web.account(), await web.account()];
    const page = await web.open({ as: ben, path: "/files" });
    await page.getByRole("button", { name: "Notifications", exact: true }).press("Enter");
    await page.getByText("No notifications yet").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("No notifications yet").waitFor({ state: "detached" });

    await shareWith(ann.client, await ann.client.storedId("for Ben"), ben);
    await page.reload();
    await page.getByRole("button", { name: "Notifications, 1 unread" }).click();
    await page.getByRole("list", { name: "Notifications" }).getByRole("listitem").first().waitFor();
    await web.lookAt(page, "inbox");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Notifications", exact: true }).waitFor();
  });
});
