import { expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../src/config/load.ts";
import { LazyDatabase, LazyStatement } from "../../../src/db/lazy-database.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { openServices } from "../../../src/server/composition/services.ts";

test("SQLite can compile every statement of a server", async () => {
  const data = mkdtempSync(join(tmpdir(), "larder-test-"));
  const prepare = spyOn(LazyDatabase.prototype, "prepare");
  const loaded = loadConfig({ flags: { data }, environment: {} });
  const services = await openServices(loaded, silentLog);
  try {
    const statements = prepare.mock.results.map(({ value }) => value).filter((value) => value instanceof LazyStatement);
    expect(statements.length).toBeGreaterThan(400);
    for (const statement of statements) statement.compiled();
  } finally {
    await services.close();
    prepare.mockRestore();
    rmSync(data, { recursive: true });
  }
});
