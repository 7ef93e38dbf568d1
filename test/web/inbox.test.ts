// The bell: notifications of the account in the web app.
import { expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey } from "./support/focus.ts";

describeWeb("the inbox", (web) => {
  test("shows notifications in the page, marks them as read, and works by keyboard", async () => {
    const [ann, ben] = [await web.account(), await web.account()];
    const page = await web.open({ as: ben, path: "/files" });
    await page.getByRole("button", { name: "Notifications", exact: true }).press("Enter");
    await page.getByText("No notifications yet").waitFor();
    await closeByKey(page, page.getByRole("dialog"));

    await shareWith(ann.client, await ann.client.storedId("for Ben"), ben);
    await page.reload();
    await page.getByRole("button", { name: "Notifications, 1 unread" }).click();
    await page.getByRole("list", { name: "Notifications" }).getByRole("listitem").first().waitFor();
    await web.lookAt(page, "inbox");
    await closeByKey(page, page.getByRole("dialog"));
    await page.getByRole("button", { name: "Notifications", exact: true }).waitFor();
  });

  test("shows older notifications on request, with the number of unread ones", async () => {
    const ben = await web.account();
    const ann = await web.account();
    for (let index = 1; index <= 25; index += 1) {
      await shareWith(ann.client, await ann.client.storedId("x", { name: `file ${index}.txt` }), ben);
    }
    const page = await web.open({ as: ben, path: "/files" });
    await page.getByRole("button", { name: "Notifications, 25 unread" }).click();
    const list = page.getByRole("list", { name: "Notifications" });
    await list.getByText(/ file 25\.txt /).waitFor();
    expect(await list.getByRole("listitem").count()).toBe(20);
    await page.getByRole("dialog").getByRole("button", { name: "Show more" }).click();
    await list.getByText(/ file 1\.txt /).waitFor();
    expect(await list.getByRole("listitem").count()).toBe(25);
    await web.lookAt(page, "inbox-all");
    await closeByKey(page, page.getByRole("dialog"));
    await page.getByRole("button", { name: "Notifications", exact: true }).waitFor();
  });
});
