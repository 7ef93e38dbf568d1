// Administration of the server: health, plans, storage, jobs, the audit log, integrity, webhooks, configuration.
import { beforeAll, expect, test } from "bun:test";
import type { Account } from "../support/client.ts";
import { describeWeb } from "./support/browser.ts";

describeWeb(
  "the administration of the server",
  (web) => {
    let admin: Account;
    beforeAll(async () => {
      admin = await web.server().addUser(["--admin", "--name", "Root"]);
    });

    test("shows the health of the server", async () => {
      const page = await web.open({ as: admin, path: "/admin" });
      await page.waitForURL("**/admin/health");
      await page.getByRole("heading", { level: 1, name: "Health" }).waitFor();
      await page.getByText("Running since").waitFor();
      await page.getByText(/^Larder \d/).waitFor();
      await web.lookAt(page, "admin-health");
    });

    test("shows plans and where they are changed", async () => {
      const page = await web.open({ as: admin, path: "/admin/plans" });
      await page.getByRole("heading", { name: "Full" }).waitFor();
      await page.getByText("Default", { exact: true }).waitFor();
      await page.getByRole("link", { name: "Change them in the settings" }).waitFor();
      await web.lookAt(page, "admin-plans");
    });

    test("shows storage over time, as a plot and as a table", async () => {
      await admin.client.upload("a first file", { name: "first.txt" });
      const page = await web.open({ as: admin, path: "/admin/storage" });
      await page.locator(".u-wrap canvas").nth(3).waitFor();
      expect(await page.getByRole("img", { name: /Used: from/ }).count()).toBe(1);
      await web.lookAt(page, "admin-storage");
      await page.getByText("Show as table").click();
      await page.getByRole("table", { name: "Over time" }).getByRole("rowheader").first().waitFor();
      await page.getByLabel("Period").selectOption("Last year");
      await page.locator(".u-wrap canvas").nth(3).waitFor();
    });

    test("shows a summary if the plot can't be loaded, and the plot as soon as it can", async () => {
      const page = await web.open({ as: admin, path: "/admin/health" });
      await page.getByText("Running since").waitFor();
      await page.route("**/assets/**/uPlot*.js", (route) => route.abort());
      await page.evaluate(() => Object.defineProperty(navigator, "onLine", { value: false, configurable: true }));
      await page.getByRole("link", { name: "Storage" }).first().click();
      await page.getByText("Couldn't load the chart.").nth(3).waitFor();
      await page.getByText(/Used: from/).waitFor();
      await web.lookAt(page, "admin-storage-offline");
      await page.unroute("**/assets/**/uPlot*.js");
      await page.evaluate(() => Object.defineProperty(navigator, "onLine", { value: true }));
      await page.getByLabel("Period").selectOption("Last year");
      await page.locator(".u-wrap canvas").nth(3).waitFor();
      expect(await page.getByText("Couldn't load the chart.").count()).toBe(0);
    });

    test("runs a job now, and shows its result", async () => {
      const page = await web.open({ as: admin, path: "/admin/jobs" });
      const row = page.getByRole("row", { name: /^Empty old trash/ });
      await row.getByText("Every hour, ").waitFor();
      await page.getByText("Every night at 3:17").first().waitFor();
      expect(await page.getByText(/\* \*|\{"/).count()).toBe(0);
      await web.lookAt(page, "admin-jobs");
      await row.getByRole("button", { name: "Run now: Empty old trash" }).press("Enter");
      await page.getByText("Empty old trash finished.").waitFor();
      await row.getByText(/took less than 1 s/).waitFor();
      await row.getByText("Nothing to do.").waitFor();
      await page.getByRole("button", { name: "Run now: Free disk space" }).press("Enter");
      await page.getByText("Removed 0 unused files, 0 bytes freed.").waitFor();
    });

    test("filters and exports the audit log", async () => {
      const account = await web.account();
      await admin.client.request("PATCH", `/api/admin/users/${account.id}`, { json: { name: "Renamed" } });
      const page = await web.open({ as: admin, path: "/admin/audit" });
      await page.getByRole("rowheader", { name: "user.change" }).first().waitFor();
      await web.lookAt(page, "admin-audit");
      await page.getByLabel("User (email or ID)").fill(account.email);
      await page.getByLabel("Action").fill("user");
      await page.getByLabel("Action").press("Enter");
      await page.waitForURL("**action=user**");
      await page.getByRole("rowheader", { name: "sign_up" }).waitFor({ state: "detached" });
      expect(await page.getByRole("rowheader").allTextContents()).toEqual(["user.change"]);
      await page.getByRole("button", { name: "Export" }).click();
      const download = page.waitForEvent("download");
      await page.getByRole("menuitem", { name: "Export as CSV" }).click();
      expect((await download).suggestedFilename()).toMatch(/^larder-audit-.*\.csv$/);
      await page.getByRole("button", { name: "Clear" }).click();
      await page.getByRole("rowheader", { name: "sign_up" }).first().waitFor();
      await page.getByLabel("Result").selectOption("Failed");
      await page.getByRole("button", { name: "Apply" }).click();
      await page.getByText("No matching entries").waitFor();
    });

    test("shows integrity findings", async () => {
      const page = await web.open({ as: admin, path: "/admin/integrity" });
      await page.getByText("No problems found").waitFor();
      await web.lookAt(page, "admin-integrity");
      const ran = page.waitForResponse((response) => response.url().endsWith("/api/admin/jobs/scrub/run"));
      await page.getByRole("button", { name: "Check now" }).click();
      expect((await ran).status()).toBe(200);
    });

    test("finds settings, and shows the source of each", async () => {
      const page = await web.open({ as: admin, path: "/admin/config" });
      await page.getByRole("checkbox", { name: "Changed settings only" }).check();
      await page
        .getByRole("row", { name: /defaultPlan/ })
        .getByText("LARDER_DEFAULT_PLAN", { exact: true })
        .waitFor();
      await web.lookAt(page, "admin-config");
      await page.getByRole("searchbox", { name: "Search settings" }).fill("no such setting");
      await page.getByText("No matching settings").waitFor();
    });
  },
  { hasAccounts: false },
);

describeWeb(
  "the administration of a server whose bucket can't be reached",
  (web) => {
    test("reports the outage, and what is only on this disk", async () => {
      const admin = await web.server().addUser(["--admin", "--name", "Root"]);
      await admin.client.stored("a file that the bucket doesn't have");
      const page = await web.open({ as: admin, path: "/admin/health" });
      await page.getByText("There is a problem").waitFor();
      await page.getByText(/can't be reached.+1 blob is stored only on this disk/).waitFor();
      await page.getByText(/^Unavailable since /).waitFor();
      await page.getByText("1 file waiting for upload to the bucket").waitFor();
      await web.lookAt(page, "admin-health-bucket");
    });
  },
  {
    env: {
      LARDER_BLOBS_STORE: "s3",
      LARDER_S3_ENDPOINT: "http://127.0.0.1:9",
      LARDER_S3_BUCKET: "larder",
      LARDER_S3_ACCESS_KEY_ID: "key",
      LARDER_S3_SECRET_ACCESS_KEY: "secret",
    },
  },
);
