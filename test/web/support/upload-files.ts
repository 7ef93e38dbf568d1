// Files to upload, and the state of the tray.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import type { Account } from "../../support/client.ts";

/** Incompressible and unique bytes, the same for the same seed. */
export function bytesOf(size: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(size);
  let state = seed;
  for (let at = 0; at < size; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes.writeUInt32LE(state, Math.min(at, Math.max(size - 4, 0)));
  }
  return bytes;
}

/** The API's checksum of these bytes. */
export function checksumOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** Files on disk for the duration of `use`, for file pickers. */
export async function withFiles<T>(files: Record<string, Uint8Array>, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "larder-upload-"));
  try {
    for (const [path, bytes] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), bytes);
    }
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Chooses files with the "New" menu, as a person does. */
export async function chooseFiles(page: Page, paths: string | string[], item = "Upload files"): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "New", exact: true }).first().click();
  await page.getByRole("menuitem", { name: item }).click();
  await (await chooser).setFiles(paths);
}

/** The list of uploads. */
export function tray(page: Page): Locator {
  return page.getByRole("region", { name: "Uploads", exact: true });
}

/** Waits until the tray has this title. */
export async function untilTraySays(page: Page, title: string | RegExp): Promise<void> {
  await tray(page).getByRole("heading", { name: title }).waitFor();
}

/** Names and checksums of the files in a folder. */
export async function stored(account: Account, folder = "/"): Promise<Record<string, string>> {
  const response = await account.client.get(`/api/files?${new URLSearchParams({ folder, limit: "100" }).toString()}`);
  const found: Record<string, string> = {};
  for (const entry of response.list("data.files")) {
    if (typeof entry !== "object" || entry === null) continue;
    const checksum: unknown = Reflect.get(entry, "checksum");
    found[String(Reflect.get(entry, "name"))] = typeof checksum === "string" ? checksum : "folder";
  }
  return found;
}
