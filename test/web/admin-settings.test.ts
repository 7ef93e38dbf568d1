// Administration: settings are changed in the page, with proof.
import { beforeAll, expect, test } from "bun:test";
import type { Account } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { describeWeb } from "./support/browser.ts";
import { prove } from "./support/proof.ts";

describeWeb(
  "the settings of the server",
  (web) => {
    let admin: Account;
    beforeAll(async () => {
      admin = await web.server().addUser(["--admin", "--name", "Root"]);
    });

    test("are changed with proof, in people's units, and apply at once", async () => {
      const page = await web.open({ as: admin, path: "/admin/settings" });
      await page.getByRole("heading", { name: "Sign-up" }).waitFor();
      await page.getByText("Anyone who can reach this server can create an account.").waitFor();
      await web.lookAt(page, "admin-settings");
      await page.getByLabel("Who can sign up").selectOption("Only invited people");
      const free = page.getByRole("group", { name: "Free" }).first();
      const quota = free.getByLabel("Storage quota (GB)", { exact: true });
      await quota.fill("7.5");
      await free.getByRole("checkbox", { name: "No limit: Registered devices" }).check();
      await page.getByText("3 unsaved changes").waitFor();
      await page.getByRole("button", { name: "Save changes" }).press("Enter");
      await prove(page, admin.password);
      await page.getByText("Settings saved.").waitFor();
      await free.getByText("Default: 5 GB").waitFor();
      await web.lookAt(page, "admin-settings-changed");
      const { json } = await admin.client.get("/api/admin/plans");
      expect(json).toMatchObject({
        data: { plans: [{ name: "free", quota: 7.5 * 1024 ** 3, devices: null }, {}, {}] },
      });

      await free.getByRole("button", { name: "Reset Storage quota to its default" }).click();
      await page.getByText("Resets to the default when you save.").waitFor();
      await page.getByRole("button", { name: "Save changes" }).click();
      // The hint about the default is gone as soon as the reset is chosen, and so says nothing about the saving.
      await eventually("the default is shown", async () => (await quota.inputValue()) === "5");
    });

    test("that are set elsewhere are shown, and can't be changed", async () => {
      const page = await web.open({ as: admin, path: "/admin/settings" });
      const trash = page.getByLabel("Keep items in trash (days)");
      await trash.waitFor();
      expect([await trash.inputValue(), await trash.isDisabled()]).toEqual(["14", true]);
      await page.getByText("Set by LARDER_TRASH_KEEP").waitFor();
      // Settings without a hint had their key there.
      expect(await page.getByText("trash.keep", { exact: true }).count()).toBe(0);
    });

    test("that are not valid are not sent, and unsaved ones ask before the page is left", async () => {
      const page = await web.open({ as: admin, path: "/admin/settings" });
      await page.getByLabel("Keep earlier versions (days)").fill("9999");
      await page.getByText("From 0 to 3,650.").waitFor();
      expect(await page.getByRole("button", { name: "Save changes" }).isDisabled()).toBe(true);
      await page.getByRole("link", { name: "Jobs" }).click();
      const question = page.getByRole("alertdialog");
      await question.getByText("Your changes to the settings aren't saved.").waitFor();
      await question.getByRole("button", { name: "Cancel" }).click();
      await question.waitFor({ state: "detached" });
      expect(new URL(page.url()).pathname).toBe("/admin/settings");
      await page.getByRole("button", { name: "Discard" }).click();
      await page.getByRole("link", { name: "Jobs" }).click();
      await page.waitForURL("**/admin/jobs");
    });

    test("of a plan that are lowered show who is above them", async () => {
      const ann = await web.server().addUser(["--name", "Ann", "--plan", "pro"]);
      await ann.client.upload("x".repeat(3_000_000), { name: "big.txt" });
      const page = await web.open({ as: admin, path: "/admin/settings" });
      const pro = page.getByRole("group", { name: "Pro" }).first();
      await pro.getByLabel("Storage quota (GB)", { exact: true }).fill("0.001");
      await pro.getByText("1 account uses more (Ann). It keeps its files but can't upload.").waitFor();
    });
  },
  { hasAccounts: false, env: { LARDER_TRASH_KEEP: "14d", LARDER_RATE_LIMITS: "", LARDER_DEFAULT_PLAN: "" } },
);
