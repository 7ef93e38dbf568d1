// The copies of the replica on a standby.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Mirrors } from "../../../src/server/standby/context.ts";
import { temporaryDirectory } from "../../support/server.ts";

test("copies that an earlier process has left are removed, and nothing else", async () => {
  const standby = await temporaryDirectory();
  for (const folder of ["db/00000001", "db/00000002/generations", "secrets"]) {
    await mkdir(join(standby, folder), { recursive: true });
    await writeFile(join(standby, folder, "file"), "");
  }
  const mirrors = new Mirrors({ standby }, { prefix: "" } as ConstructorParameters<typeof Mirrors>[1]);
  mirrors.removeOthers(mirrors.open("db/00000002"));
  const isThere = (path: string) => existsSync(join(standby, path));
  expect(["db/00000001", "db/00000002/generations/file", "secrets/file"].map(isThere)).toEqual([false, true, true]);
  await rm(standby, { recursive: true });
});
