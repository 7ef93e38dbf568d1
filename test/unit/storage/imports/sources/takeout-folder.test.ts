// Archives of Google Takeout in a folder of the machine, which somebody changes during the import.
import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdir, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openArchives } from "../../../../../src/features/storage/imports/sources/takeout/open-archives.ts";
import { readContent, readSource } from "../../../../support/import-sources.ts";
import { temporaryDirectory } from "../../../../support/server.ts";
import { photoFile, takeoutTgz, takeoutZip } from "../../../../support/takeout.ts";

const directories: string[] = [];
let top: string;

beforeEach(async () => {
  top = await realpath(await temporaryDirectory());
  directories.push(top);
  await put("imports", "own");
  await put("outside", "secret");
});

afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

/** Archives with one photo each. */
async function put(folder: string, content: string): Promise<void> {
  await mkdir(join(top, folder));
  await writeFile(join(top, folder, "takeout-1.zip"), takeoutZip([photoFile("Photos from 2019", "a.jpg", content)]));
  await writeFile(join(top, folder, "takeout-2.tgz"), takeoutTgz([photoFile("Photos from 2019", "b.jpg", content)]));
}

async function replaceByLink(path: string, target: string): Promise<void> {
  await rename(join(top, path), join(top, "moved"));
  await symlink(join(top, target), join(top, path));
}

test.each([
  ["takeout-1.zip", false],
  ["takeout-2.tgz", false],
  ["takeout-1.zip", true],
  ["takeout-2.tgz", true],
])("%s that becomes a link before it is opened is only followed by the command: %p", async (name, isByCommand) => {
  await replaceByLink(`imports/${name}`, `outside/${name}`);
  const opened = openArchives([join(top, "imports", name)], isByCommand);
  if (isByCommand) return await (await opened).close();
  expect(String(await opened.catch((error: unknown) => error))).toContain("Links in the folder for imports");
});

test("an archive in a folder that becomes a link before it is opened is not followed", async () => {
  // Only the archive itself was checked, and not the folders above it.
  await replaceByLink("imports", "outside");
  const { message } = await failureOf(openArchives([join(top, "imports", "takeout-1.zip")], false));
  expect(message).toContain('"takeout-1.zip" is not a file.');
});

test.each([["imports/takeout-1.zip"], ["imports"]])(
  "what replaces %s by a link between listing and reading is not read",
  async (path) => {
    const source = await openArchives([join(top, "imports")], false);
    try {
      let isReplaced = false;
      const contents: string[] = [];
      for await (const entry of source.entries(new AbortController().signal)) {
        if (entry.type !== "file") continue;
        if (!isReplaced) await replaceByLink(path, path.replace("imports", "outside"));
        isReplaced = true;
        contents.push(Buffer.from(await readContent(entry.file)).toString());
      }
      expect(contents).toEqual(["own", "own"]);
      expect((await readSource(source)).files).toHaveLength(2);
    } finally {
      await source.close();
    }
  },
);

async function failureOf(work: Promise<unknown>): Promise<Error> {
  const failure = await work.catch((error: unknown) => error);
  if (failure instanceof Error) return failure;
  throw new Error("it did not fail");
}
