// Groups: their administration, and the share dialog that completes people and groups.
import { beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import type { Account } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { makeGroup } from "../support/groups.ts";
import { row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey, untilFocused, untilMenuFocused } from "./support/focus.ts";
import { prove } from "./support/proof.ts";

/** Opens the dialog that shares an entry, with people as the recipients. */
async function shareWithPeople(page: Page, name: string): Promise<Locator> {
  await row(page, name).click();
  await page.getByRole("toolbar").getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: `Share “${name}”` });
  await dialog.getByRole("radio", { name: /^People with an account/ }).check();
  return dialog;
}

const people = (dialog: Locator) => dialog.getByRole("combobox", { name: "People, groups, or email addresses" });

/** Pastes a text into the focused field, as a person does. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((pasted) => {
    const data = new DataTransfer();
    data.setData("text", pasted);
    document.activeElement?.dispatchEvent(
      new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
    );
  }, text);
}

describeWeb(
  "groups",
  (web) => {
    let admin: Account;
    beforeAll(async () => {
      admin = await web.server().addUser(["--admin", "--name", "Root"]);
    });

    test("are made, filled, renamed and deleted by an administrator, by keyboard", async () => {
      const member = await web.account("Mia Member");
      const page = await web.open({ as: admin, path: "/admin/groups" });
      await page.getByText("No groups yet").waitFor();
      await web.lookAt(page, "admin-groups-empty");
      await page.getByRole("button", { name: "Create group" }).press("Enter");
      const naming = page.getByRole("dialog", { name: "Create group" });
      await untilFocused(page, naming);
      await naming.getByLabel("Name").fill("Family");
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog", { name: "Members of “Family”" });
      const field = dialog.getByRole("combobox", { name: "Add people by name or email" });
      await field.pressSequentially("mia");
      await dialog.getByRole("option", { name: /^Mia Member/ }).waitFor();
      await web.lookAt(page, "admin-group-add");
      await field.press("Enter");
      await dialog.getByRole("button", { name: "Remove Mia Member" }).waitFor();
      await field.press("Enter");
      await prove(page, admin.password);
      await dialog.getByRole("list", { name: "Members" }).getByText(member.email).waitFor();
      await web.lookAt(page, "admin-group-members");
      await closeByKey(page, dialog);
      const groups = await admin.client.get("/api/admin/groups");
      expect(groups.at("data.groups.0")).toMatchObject({ name: "Family", members: 1 });
      await page.getByRole("rowheader", { name: "Family" }).waitFor();
      await web.lookAt(page, "admin-groups");

      await page.getByRole("button", { name: "Actions for Family" }).press("Enter");
      await untilMenuFocused(page);
      await page.getByRole("menuitem", { name: "Rename" }).press("Enter");
      const renaming = page.getByRole("dialog", { name: "Rename “Family”" });
      await renaming.getByLabel("Name").fill("Relatives");
      await renaming.getByRole("button", { name: "Rename" }).click();
      await page.getByRole("button", { name: "Relatives", exact: true }).click();
      const members = page.getByRole("dialog", { name: "Members of “Relatives”" });
      await members.getByRole("button", { name: "Remove Mia Member" }).click();
      await members.getByText("No members yet.").waitFor();
      await closeByKey(page, members);
      await page.getByRole("button", { name: "Actions for Relatives" }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("No groups yet").waitFor();
    });

    test("and people are completed in the share dialog, by keyboard", async () => {
      const account = await web.account("Olga Owner");
      const [ada, bob] = [await web.account("Ada Lovelace"), await web.account("Bob Byron")];
      await makeGroup(admin, "Book club", [bob]);
      await account.client.folderId("Reading");
      const page = await web.open({ as: account });
      const dialog = await shareWithPeople(page, "Reading");
      await people(dialog).pressSequentially("lovel");
      await dialog.getByRole("option", { name: "Ada Lovelace" }).waitFor();
      expect(await people(dialog).getAttribute("aria-expanded")).toBe("true");
      await page.keyboard.press("Enter");
      await dialog.getByRole("button", { name: "Remove Ada Lovelace" }).waitFor();
      await people(dialog).pressSequentially("boo");
      await dialog.getByRole("option", { name: /^Book club.*Group with 1 member/ }).waitFor();
      await web.lookAt(page, "share-people-options");
      // Escape closes the options first, and not the dialog.
      await page.keyboard.press("Escape");
      await dialog.getByRole("option", { name: /^Book club/ }).waitFor({ state: "detached" });
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await dialog.getByRole("button", { name: "Remove Book club" }).waitFor();
      await paste(page, "Eva E. <eva@example.org>, finn@example.org");
      await dialog.getByRole("button", { name: "Remove eva@example.org" }).waitFor();
      await people(dialog).press("Backspace");
      await dialog.getByRole("button", { name: "Remove finn@example.org" }).waitFor({ state: "detached" });
      await web.lookAt(page, "share-people-chosen");
      await people(dialog).pressSequentially("nobody");
      await dialog.getByRole("button", { name: "Share", exact: true }).click();
      await dialog.getByText("Choose a person or a group, or enter a complete email address.").waitFor();
      await people(dialog).fill("");
      await people(dialog).press("Enter");
      const list = dialog.getByRole("list", { name: "Existing shares" });
      await list.getByText("Shared with Ada Lovelace").waitFor();
      await list.getByText("Shared with Book club").waitFor();
      await list.getByText("Shared with eva@example.org").waitFor();
      // Who is in the group, on demand.
      const who = list.getByRole("list", { name: "1 person in Book club" });
      expect(await who.isVisible()).toBe(false);
      await list.getByText("1 person", { exact: true }).press("Enter");
      await who.getByText("Bob Byron").waitFor();
      await web.lookAt(page, "share-people-list");
      await list.getByLabel("Permissions of Ada Lovelace").selectOption("write");
      await eventually("Ada may write", async () => {
        return (await account.client.get("/api/shares")).text.includes('"permissions":"write"');
      });
      const shares = await account.client.get("/api/shares");
      expect(shares.list("data.shares")).toHaveLength(3);
      expect(shares.text).not.toContain(ada.email);
      expect((await bob.client.get("/api/shares/received")).list("data.shares")).toHaveLength(1);
      expect((await ada.client.get("/api/shares/received")).at("data.shares.0.permissions")).toBe("write");
    });

    test("can be chosen on a phone by touch, and a member hides the share for themselves", async () => {
      const account = await web.account("Tilda Touch");
      const [member, other] = [await web.account("Hanna Hides"), await web.account("Karl Keeps")];
      await makeGroup(admin, "Hikers", [member, other]);
      await account.client.storedId("the map", { name: "map.txt" });
      const page = await web.open({ as: account, size: "phone", context: { hasTouch: true } });
      await page.getByRole("button", { name: "Actions for map.txt" }).tap();
      await page.getByRole("menuitem", { name: "Share", exact: true }).tap();
      const dialog = page.getByRole("dialog", { name: "Share “map.txt”" });
      await dialog.getByRole("radio", { name: /^People with an account/ }).tap();
      await people(dialog).tap();
      await people(dialog).pressSequentially("hik");
      await dialog.getByRole("option", { name: /^Hikers/ }).tap();
      await dialog.getByRole("button", { name: "Remove Hikers" }).waitFor();
      await dialog.getByRole("button", { name: "Share", exact: true }).tap();
      await dialog.getByText("Shared with Hikers").waitFor();

      const theirs = await web.open({ as: member, path: "/shared/with-me" });
      await theirs.getByRole("button", { name: "Actions for map.txt" }).click();
      await theirs.getByRole("menuitem", { name: "Leave" }).click();
      await theirs.getByRole("alertdialog").getByRole("button", { name: "Leave" }).click();
      await theirs.getByText("Nothing has been shared with you yet").waitFor();
      expect((await other.client.get("/api/shares/received")).list("data.shares")).toHaveLength(1);
    });
  },
  { hasAccounts: false, env: { LARDER_SHOW_PEOPLE: "on" } },
);
