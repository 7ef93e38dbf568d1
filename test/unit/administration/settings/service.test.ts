import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { loadConfig } from "../../../../src/config/load.ts";
import { StartupError } from "../../../../src/config/startup-error.ts";
import { migrate } from "../../../../src/db/migrate.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { SettingsService } from "../../../../src/features/administration/settings/service.ts";
import { systemClock } from "../../../../src/lib/clock.ts";
import { silentLog } from "../../../../src/lib/log.ts";

test("two changes at once can't contradict each other", async () => {
  const sqlite = new Database(":memory:", { strict: true });
  migrate(sqlite, silentLog);
  const loaded = loadConfig({ environment: {}, directory: "/nonexistent" });
  const writer = new Writer(sqlite, silentLog);
  const settings = new SettingsService({ loaded, sqlite, writer, clock: systemClock, log: silentLog });
  settings.addCheck("mail", ({ mail }) => {
    if (mail.host !== null && mail.from === null) throw new StartupError("mail.from is missing.");
  });
  const change = (values: Record<string, unknown>) => settings.change(values, "usr_1", () => undefined);
  await change({ "mail.from": "larder@example.org" });
  // Each is valid on its own, and both begin before one is stored.
  const both = await Promise.allSettled([change({ "mail.host": "mail.example.org" }), change({ "mail.from": null })]);
  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(both[1]).toMatchObject({ reason: { reason: "invalid_field" } });
  expect([settings.config.mail.host, settings.config.mail.from]).toEqual(["mail.example.org", "larder@example.org"]);
  sqlite.close();
});
