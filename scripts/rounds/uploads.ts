/*
 * The program of scripts/rounds/uploads. The page reaches the server through a line that pauses after a quarter, a half, and
 * three quarters of the file, so that each interruption comes during the upload, on any machine.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { dispose, startServer } from "../../test/support/server.ts";
import { findChromium, launchChromium } from "../../test/web/support/chromium.ts";
import { Line } from "../../test/web/support/line.ts";
import { bytesOf, chooseFiles, stored, tray, untilTraySays } from "../../test/web/support/upload-files.ts";

const NAME = "large.bin";
const MIB = 1024 * 1024;
const WAIT_MS_MAX = 30 * 60_000;

const { values } = parseArgs({ options: { bytes: { type: "string", default: String(2 * 1024 * MIB) } } });
const sizeBytes = Number(values.bytes);
if (findChromium() === undefined) {
  console.error("Chromium was not found. Run scripts/ensure-chromium.sh.");
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), "larder-round-"));
const path = join(folder, NAME);
// The limit of the plan is smaller.
const server = await startServer({ env: { LARDER_PLANS_ENTERPRISE_MAX_FILE_SIZE: "100GB" } });
const line = await Line.open(() => server.port);
const browser = await launchChromium();
try {
  const expected = await writeSparseFile(path, sizeBytes);
  const account = await server.signUp();
  const context = await browser.newContext({ baseURL: line.origin, serviceWorkers: "block" });
  context.setDefaultTimeout(WAIT_MS_MAX);
  await context.addInitScript(() => Object.defineProperty(globalThis, "showOpenFilePicker", { value: undefined }));
  const { email, password } = account;
  await context.request.post("/api/auth/signin", { data: { email, password, cookie: true } });
  const page = await context.newPage();
  await page.goto("/files");

  const startedMs = performance.now();
  line.stallAfter(sizeBytes / 4);
  await chooseFiles(page, path);
  await line.untilStalled();
  say("a quarter sent", startedMs);

  const killedMs = performance.now();
  await server.kill9();
  line.cut();
  line.stallAfter(sizeBytes / 4);
  line.mend();
  await server.restart();
  await line.untilStalled();
  say("kill -9 of the server, and another quarter sent", killedMs);

  const cutMs = performance.now();
  line.cut();
  await tray(page).getByText("Waiting for the network").waitFor();
  line.stallAfter(sizeBytes / 4);
  line.mend();
  await line.untilStalled();
  say("the line cut and mended, and another quarter sent", cutMs);

  const reloadedMs = performance.now();
  line.cut();
  line.release();
  line.mend();
  await page.reload();
  await resumeWith(page, path);
  await untilTraySays(page, "1 file uploaded");
  say("the page reloaded, and the rest sent", reloadedMs);
  const seconds = (performance.now() - startedMs) / 1000;

  const arrived = (await stored(account))[NAME];
  const isWhole = arrived === expected;
  console.log(
    `${sizeBytes} bytes in ${seconds.toFixed(1)} s with three interruptions: ${isWhole ? "complete" : "NOT COMPLETE"}`,
  );
  if (!isWhole) {
    console.error(`sent ${expected}, stored ${arrived ?? "nothing"}`);
    process.exitCode = 1;
  }
} finally {
  await browser.close();
  await line.close();
  await dispose(server);
  await rm(folder, { recursive: true, force: true });
}

/** Writes a sparse file with different bytes every 64 MiB, so that no part equals another. @returns its checksum */
async function writeSparseFile(at: string, size: number): Promise<string> {
  const file = await open(at, "w");
  await file.truncate(size);
  for (let offset = 0; offset < size; offset += 64 * MIB) {
    await file.write(bytesOf(Math.min(MIB, size - offset), offset + 1), 0, undefined, offset);
  }
  await file.close();
  const hash = createHash("sha256");
  for await (const bytes of createReadStream(at, { highWaterMark: 4 * MIB })) hash.update(bytes);
  return `sha256:${hash.digest("hex")}`;
}

async function resumeWith(page: Page, file: string): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await tray(page).getByRole("button", { name: "Select files again" }).click();
  await (await chooser).setFiles(file);
}

function say(what: string, sinceMs: number): void {
  console.log(`${((performance.now() - sinceMs) / 1000).toFixed(1).padStart(7)} s  ${what}`);
}
