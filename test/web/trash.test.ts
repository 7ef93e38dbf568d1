import { expect, test } from "bun:test";
import type { Account } from "../support/client.ts";
import { expectSelected, row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";

describeWeb("the trash", (web) => {
  async function withTrash(): Promise<Account> {
    const account = await web.account();
    await account.client.folderId("Letters");
    const ids: string[] = [];
    for (const name of ["a.txt", "b.txt", "c.txt", "d.txt"]) {
      ids.push(await account.client.storedId(name, { name, fields: { folder: "/Letters" } }));
    }
    const trashed = await account.client.post("/api/files/trash", { fileIds: ids });
    if (trashed.status !== 200) throw new Error(`not trashed: ${trashed.text}`);
    return account;
  }

  test("shows where items were and when they expire, and restores them", async () => {
    const account = await withTrash();
    const page = await web.open({ as: account, path: "/trash" });
    await row(page, "a.txt").getByText("/Letters").waitFor();
    await web.lookAt(page, "trash");
    await row(page, "a.txt").click();
    await page.keyboard.press("Shift+ArrowUp");
    await expectSelected(page, 2);
    await page.getByRole("toolbar").getByRole("button", { name: "Restore" }).click();
    await page.getByText("2 items restored.").waitFor();
    await row(page, "a.txt").waitFor({ state: "detached" });
    expect(await account.client.names("/Letters")).toEqual(["a.txt", "b.txt"]);
  });

  test("on phones, the second line of an item says how long it stays, and is not cut", async () => {
    const page = await web.open({ as: await withTrash(), path: "/trash", size: "phone" });
    const line = row(page, "a.txt").getByText(/^Deleted .+ · (29|30) days left$/);
    await line.waitFor();
    expect(await line.evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(false);
  });

  test("deletes permanently only after a confirmation, one or all", async () => {
    const account = await withTrash();
    const page = await web.open({ as: account, path: "/trash" });
    await row(page, "b.txt").click();
    await page.keyboard.press("Delete");
    const question = page.getByRole("alertdialog", { name: "Delete 1 item permanently?" });
    await question.waitFor();
    await web.lookAt(page, "trash-question");
    await question.getByRole("button", { name: "Cancel" }).click();
    await question.waitFor({ state: "detached" });
    expect((await account.client.get("/api/files/trash")).number("data.pagination.total")).toBe(4);
    await row(page, "b.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Delete permanently" }).click();
    await question.getByRole("button", { name: "Delete permanently" }).click();
    await page.getByText("1 item deleted permanently.").waitFor();
    await row(page, "b.txt").waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Empty trash" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Empty trash" }).click();
    await page.getByText("3 items deleted permanently.").waitFor();
    await page.getByText("Trash is empty").waitFor();
    await web.lookAt(page, "trash-empty");
    expect((await account.client.get("/api/files/trash")).number("data.pagination.total")).toBe(0);
    expect(await account.client.names("/Letters")).toEqual([]);
  });

  test("deletes what was confirmed, and nothing that was trashed after it", async () => {
    const account = await withTrash();
    const page = await web.open({ as: account, path: "/trash" });
    await row(page, "a.txt").click();
    await page.keyboard.press("Control+a");
    await expectSelected(page, 4);
    await page.keyboard.press("Delete");
    const question = page.getByRole("alertdialog", { name: "Delete 4 items permanently?" });
    await question.waitFor();
    const late = await account.client.storedId("late", { name: "late.txt" });
    await account.client.post("/api/files/trash", { fileIds: [late] });
    await question.getByRole("button", { name: "Delete permanently" }).click();
    await page.getByText("4 items deleted permanently.").waitFor();
    expect((await account.client.get("/api/files/trash")).number("data.pagination.total")).toBe(1);
  });
});
