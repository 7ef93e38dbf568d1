/**
 * The large tasks that keep a server busy while small reads are measured.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Bench } from "../bench.ts";
import { at, call, type Device, registerDevice, textAt } from "../device.ts";
import { type Larder, PASSWORD, runOnLarder } from "../larder.ts";
import { load, loadLeniently } from "../load.ts";
import { run } from "../processes.ts";
import { authorize } from "../webdav.ts";
import { SEEDED_FOLDER } from "./seeded.ts";

const MIB = 1 << 20;
const SMALL_FILES = 3000;
const SMALL_BYTES = 10 << 10;
const ADMIN = "admin@example.com";
/** Of the file that is uploaded, and of the archive. */
const LARGE_BYTES = 1024 * MIB;

/** A server with what the tasks need. */
export interface Busy {
  larder: Larder;
  device: Device;
  admin: Device;
  /** The header Authorization of an app password. */
  dav: string;
  photos: string[];
  /** A folder for the files that are imported. */
  directory: string;
  archivePath: string;
}

/** One task, which lasts about `durationMs`. */
type Task = (busy: Busy, durationMs: number) => Promise<unknown>;

export const BACKGROUND = {
  "a 1 GiB upload": ({ larder }, durationMs) => {
    const name = "large-########.bin";
    const templates = [larder.uploadTemplate({ folder: "large", name, body: { random: LARGE_BYTES }, rawAs: "form" })];
    return load(larder, { connections: 1, count: 1, durationMs, templates, isBackground: true });
  },
  "a list of 100,000 entries": ({ larder, dav }, durationMs) =>
    repeat(larder, durationMs, "PROPFIND", `/dav/${SEEDED_FOLDER}/`, dav),
  "a full scrub": async ({ larder, admin }, durationMs) => {
    const until = performance.now() + durationMs;
    while (performance.now() < until) await call(larder, "/api/admin/jobs/scrub/run", admin, {});
  },
  "a restore of the account": async (busy, durationMs) => {
    const until = performance.now() + durationMs;
    while (performance.now() < until) await deleteAndRestore(busy);
  },
  "an archive": ({ larder, device, archivePath }, durationMs) =>
    repeat(larder, durationMs, "GET", archivePath, `Bearer ${device.token}`),
  thumbnails: ({ larder, photos }, durationMs) => {
    const upload = { folder: "photos", name: "photo-########.jpg", mediaType: "image/jpeg", rawAs: "form" } as const;
    const templates = photos.map((file) => larder.uploadTemplate({ ...upload, body: { file } }));
    return load(larder, { connections: 2, durationMs, templates, isBackground: true });
  },
  "an import": importFiles,
  "sign-ins": ({ larder }, durationMs) => {
    // Each comes from another IPv6 network, as the limit per address would otherwise reject nearly all.
    const head =
      "POST /api/auth/signin HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" +
      "X-Forwarded-For: 2001:db8:####:1::1\r\n";
    const prefix = JSON.stringify({ email: larder.email, password: PASSWORD });
    const plan = { connections: 4, durationMs, templates: [{ head, prefix }], accept: [429] };
    return loadLeniently(larder, { ...plan, isBackground: true });
  },
} satisfies Record<string, Task>;

export type BackgroundName = keyof typeof BACKGROUND;

/** Uploads files, and creates an administrator and an app password. */
export async function prepareBackground(bench: Bench, larder: Larder, photos: string[]): Promise<Busy> {
  const device = await registerDevice(larder, "bench-phone");
  const add = ["user", "add", ADMIN, "--admin", "--password-stdin"];
  await runOnLarder(larder, add, `${PASSWORD}\n`);
  const token = (await runOnLarder(larder, ["user", "token", ADMIN])).trim();
  const dav = await authorize(larder);
  const small = {
    folder: "restored",
    name: "small-########.bin",
    body: { random: SMALL_BYTES },
    rawAs: "form",
  } as const;
  await load(larder, { connections: 16, count: SMALL_FILES, templates: [larder.uploadTemplate(small)] });
  const part = {
    folder: "archived",
    name: "part-########.bin",
    body: { random: LARGE_BYTES / 8 },
    rawAs: "form",
  } as const;
  await load(larder, { connections: 1, count: 8, templates: [larder.uploadTemplate(part)] });
  const archivePath = `/api/files/folders/${await folderId(larder, device, "archived")}/archive`;
  const directory = bench.directory("imported");
  return { larder, device, admin: { token, headers: "" }, dav, photos, directory, archivePath };
}

async function folderId(larder: Larder, device: Device, name: string): Promise<string> {
  const listed = await call(larder, `/api/files?folder=/&type=folder&search=${name}&recursive=false`, device);
  return textAt(at(listed, "data", "files", 0), "id");
}

function repeat(larder: Larder, durationMs: number, method: string, path: string, authorization: string) {
  const script = join(dirname(import.meta.dir), "repeat.ts");
  const url = `http://${larder.host}:${larder.port}${path}`;
  return run(["nice", "-n", "5", process.execPath, script, String(durationMs), method, url, authorization]);
}

/** Deletes a folder with all its files, and takes the account back to the time before. */
async function deleteAndRestore({ larder, device }: Busy): Promise<void> {
  const time = new Date().toISOString();
  const id = await folderId(larder, device, "restored");
  const url = `http://${larder.host}:${larder.port}/api/files/folders/${id}?recursive=true`;
  const headers = { authorization: `Bearer ${device.token}` };
  const deleted = await fetch(url, { method: "DELETE", headers });
  if (!deleted.ok) throw new Error(`deleting responded with ${deleted.status}: ${await deleted.text()}`);
  for (let hasMore = true; hasMore; ) {
    const body = { folder: "/", at: time, partial: true };
    hasMore = at(await call(larder, "/api/files/restore", device, body), "data", "hasMore") === true;
  }
}

/**
 * Imports new files by the command, which is part of the server's work and has its priority. The files are written at a
 * lower one, and stay until the end: ext4 is slow for a while after many files were removed.
 */
async function importFiles({ larder, directory }: Busy, durationMs: number): Promise<void> {
  const until = performance.now() + durationMs;
  const write = `head -c ${SMALL_FILES * SMALL_BYTES} /dev/urandom | split -a 4 -b ${SMALL_BYTES} - "$0/"`;
  while (performance.now() < until) {
    const name = crypto.randomUUID();
    const source = join(directory, name);
    mkdirSync(source);
    await run(["nice", "-n", "5", "sh", "-c", write, source]);
    await runOnLarder(larder, ["import", source, "--user", larder.email, "--folder", `/imported/${name}`]);
  }
}
