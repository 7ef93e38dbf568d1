// Photos that a command imported once had no thumbnails until somebody looked at them.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Account, digestOf } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { temporaryDirectory, type TestServer, withServer } from "../support/server.ts";

let folder = "";

beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Imports files by command. */
async function importFiles(on: TestServer, { email }: Account, files: Record<string, Uint8Array>): Promise<void> {
  const path = join(folder, crypto.randomUUID());
  await mkdir(path);
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(path, name), bytes);
  const { code, stderr } = await on.larder(["import", path, "--user", email, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

/** Runs the job to its end. Its schedule may have run it before. */
async function runJob({ client }: Account): Promise<void> {
  expectStatus(await client.post("/api/admin/jobs/thumbnails/run"), 200);
  const find = async () => {
    const jobs = (await client.get("/api/admin/jobs")).list("data.jobs") as { name: string; isRunning: boolean }[];
    return jobs.find(({ name }) => name === "thumbnails");
  };
  await eventually("the job has ended", async () => (await find())?.isRunning === false);
  expect(await find()).toMatchObject({ lastError: null });
}

/** The stored thumbnails, by digest and size. */
async function thumbnails(on: TestServer): Promise<string[]> {
  const entries = await readdir(join(on.dataDir, "thumbs"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name.replace(/\.webp$/, ""));
}

function usualOf(...photos: Uint8Array[]): string[] {
  return photos.flatMap((photo) => ["medium", "small"].map((size) => `${digestOf(photo)}.${size}`)).sort();
}

describe("photos that a command imports", () => {
  test("get thumbnails that nobody requested, while the server runs and after a start", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const [administrator, account] = [await own.addUser(["--admin"]), await own.signUp()];
      const photos = [await jpegPhoto(900, 600), await jpegPhoto(600, 900), await jpegPhoto(700, 700)] as const;
      const [first, second, third] = photos;
      await importFiles(own, account, { "1.jpg": first, "2.jpg": second, "a.txt": new TextEncoder().encode("text") });
      await runJob(administrator);
      expect((await thumbnails(own)).sort()).toEqual(usualOf(first, second));

      await own.stop();
      await importFiles(own, account, { "3.jpg": third });
      await own.start();
      await runJob(administrator);
      expect((await thumbnails(own)).sort()).toEqual(usualOf(...photos));
    });
  });

  test("are tried once if they are broken, and others still get theirs", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const [administrator, account] = [await own.addUser(["--admin"]), await own.signUp()];
      const photo = await jpegPhoto(900, 600);
      await importFiles(own, account, { "broken.jpg": photo.subarray(0, 400), "whole.jpg": photo });
      await runJob(administrator);
      expect((await thumbnails(own)).sort()).toEqual(usualOf(photo));
      const failures = () => own.log.split("Cannot create a thumbnail of this file").length - 1;
      expect(failures()).toBe(1);
      await own.restart();
      await runJob(administrator);
      expect(failures()).toBe(1);
    });
  });

  test("get none if thumbnails are turned off", async () => {
    await withServer({ hasAccounts: true, env: { LARDER_THUMBNAILS_ENABLED: "off" } }, async (own) => {
      const administrator = await own.addUser(["--admin"]);
      expectStatus(await administrator.client.post("/api/admin/jobs/thumbnails/run"), 404);
    });
  });
});
