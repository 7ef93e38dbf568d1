// Administration of the server: health, plans, storage, jobs, the audit log, integrity, webhooks, configuration.
import { Database } from "bun:sqlite";
import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Account } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { search, untilFound } from "../support/text-search.ts";
import { describeWeb } from "./support/browser.ts";
import { prove } from "./support/proof.ts";

/** Charts need the figures of two days. */
function addSampleOfYesterday(dataDir: string): void {
  const sqlite = new Database(join(dataDir, "larder.db"));
  sqlite.run(
    `INSERT INTO daily_samples SELECT CAST(unixepoch() / 86400 AS INTEGER) - 1, (unixepoch() - 86400) * 1000,
       1, 1, 2, 1, 1000, 0, 0, 2, 1000, 7000000, 9000000, 0, 0, 0, 0`,
  );
  sqlite.close();
}

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

    test("the sections are a list, on phones a menu", async () => {
      const page = await web.open({ as: admin, path: "/admin/health", size: "phone" });
      await page.getByText("Everything is working").waitFor();
      await page.getByRole("button", { name: "All sections" }).click();
      await page.getByRole("menuitem", { name: "Jobs" }).click();
      await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
      await web.lookAt(page, "admin-phone");
    });

    test("shows plans and where they are changed", async () => {
      const page = await web.open({ as: admin, path: "/admin/plans" });
      await page.getByRole("heading", { name: "Complete" }).waitFor();
      await page.getByText("Default", { exact: true }).waitFor();
      await page.getByRole("link", { name: "Change them in the settings" }).waitFor();
      await web.lookAt(page, "admin-plans");
    });

    test("shows who stores what, and that a new server has no charts yet", async () => {
      await admin.client.upload("a first file", { name: "first.txt" });
      // Transfers are counted within a second.
      await eventually("the upload is counted", async () => {
        const response = await admin.client.get("/api/admin/stats/history?days=1");
        return response.at("data.days.0.uploadedBytes") === 12;
      });
      const page = await web.open({ as: admin, path: "/admin/storage" });
      await page.getByText("Not enough data yet").waitFor();
      expect(await page.locator(".u-wrap canvas").count()).toBe(0);
      const people = page.getByRole("list", { name: "By person" });
      await people.getByText("12 bytes").waitFor();
      // The parts would only repeat the total.
      expect(await people.getByText("versions 0 bytes").count()).toBe(0);
      await page.getByRole("list", { name: "By kind of file" }).getByText("12 bytes, 1 file").waitFor();
      expect(await page.getByText("first.txt").count()).toBe(0);
      await web.lookAt(page, "admin-storage-new");
      await page.getByText("Show as table").click();
      const row = page.getByRole("table", { name: "Over time" }).getByRole("row").nth(1);
      expect(await row.getByRole("cell").allTextContents()).toContain("Uploaded12 bytes");
    });

    test("shows storage over time, as a plot and as a table", async () => {
      addSampleOfYesterday(web.server().dataDir);
      const page = await web.open({ as: admin, path: "/admin/storage" });
      await page.locator(".u-wrap canvas").nth(3).waitFor();
      expect(await page.getByRole("img", { name: /Used: from/ }).count()).toBe(1);
      await web.lookAt(page, "admin-storage");
      await page.getByLabel("Period").selectOption("Last year");
      await page.locator(".u-wrap canvas").nth(3).waitFor();
    });

    test("shows what is indexed for searching in contents, and switches it off and on", async () => {
      await admin.client.stored("text with gargoylefish", { name: "a.txt" });
      await untilFound(admin.client, "gargoylefish");
      const page = await web.open({ as: admin, path: "/admin/storage" });
      const card = page.getByRole("region", { name: "Searching in contents" });
      const files = card.getByText("Files with text");
      await files.waitFor();
      expect(Number(await files.locator("xpath=following::dd[1]").textContent())).toBeGreaterThan(0);
      await page.goto(page.url().replace("/storage", "/settings"));
      const toggle = page.getByRole("switch", { name: "Search in the content of files" });
      await toggle.click();
      await page.getByRole("button", { name: "Save changes" }).click();
      await prove(page, admin.password);
      await page.getByText("Settings saved.").waitFor();
      expect((await search(admin.client, "gargoylefish")).at("data.contents.state")).toBe("off");
      await toggle.click();
      await page.getByRole("button", { name: "Save changes" }).click();
      await untilFound(admin.client, "gargoylefish");
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
      const internal = /\b(blob|row|token|operation|journal|idempotent|ETag)s?\b/i;
      expect(await page.getByRole("table").innerText()).not.toMatch(internal);
      for (const name of (await admin.client.get("/api/admin/jobs")).strings("data.jobs", "name"))
        expect(await page.getByRole("button", { name: `Run now: ${name}`, exact: true }).count()).toBe(0);
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
      const changed = page.getByRole("rowheader", { name: /^Root changed Renamed's account/ });
      await changed.getByText("Details").click();
      await changed.getByText("user.change").waitFor();
      await web.lookAt(page, "admin-audit");
      await page.getByLabel("User (email or ID)").fill(account.email);
      await page.getByLabel("Action").selectOption("Accounts, by administrators");
      await page.getByRole("button", { name: "Apply" }).click();
      await page.waitForURL("**action=user**");
      const signUp = page.getByRole("rowheader", { name: /signed up/ });
      await signUp.waitFor({ state: "detached" });
      expect(await page.getByRole("rowheader").count()).toBe(1);
      await changed.waitFor();
      await page.getByRole("button", { name: "Export" }).click();
      const download = page.waitForEvent("download");
      await page.getByRole("menuitem", { name: "Export as CSV" }).click();
      expect((await download).suggestedFilename()).toMatch(/^larder-audit-.*\.csv$/);
      await page.getByRole("button", { name: "Clear" }).click();
      await signUp.first().waitFor();
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
