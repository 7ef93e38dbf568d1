/**
 * The operations whose cost must not grow with the number of files.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Device, registerDevice, call, textAt } from "../device.ts";
import type { RecordedResponse, RequestTemplate } from "../job.ts";
import { fileId, type Larder, PASSWORD } from "../larder.ts";
import { load, type LoadPlan } from "../load.ts";
import { median } from "../measure.ts";
import { MARKERS, WORDS } from "../seed.ts";
import { getTemplate } from "../server.ts";
import { measurePropfind, type WebDavServer, webDavOf } from "../webdav.ts";
import { SEEDED_FOLDER } from "./seeded.ts";

const DURATION_MS = 1000;
const SAMPLE_FILES = 2000;
const PAGE_FILES = 100;
const SMALL_FOLDER_FILES = 20;
const UPLOADS = 300;
const SIGN_INS = 8;
const SEARCH_PASSES = 5;
/** Parts of the names of half or a quarter of the files. */
const MANY_HITS = [
  MARKERS.half,
  `${MARKERS.half} 0`,
  `${MARKERS.half} 1`,
  MARKERS.half.slice(1),
  MARKERS.half.slice(2),
];
/** The part of a seeded name that is in no other. */
const UNIQUE_WORD = /\b[0-9a-z]{7}(?= \w+\.)/;

/** What one operation costs. */
export interface Cost {
  cpuMs: number;
  p50Ms: number;
}

export interface Prepared {
  device: Device;
  dav: WebDavServer;
  /** Ids of files from all of the account. */
  ids: string[];
  /** Words that each are in the name of one file. */
  words: string[];
  /** The number of the large folder's last page. */
  lastPage: number;
  /** Of a sync that includes all changes. */
  syncToken: string;
  /** Responses to uploads whose files are not deleted yet. */
  uploaded: RecordedResponse[];
}

const SMALL = { name: "small-########.bin", body: { random: 10 << 10 }, rawAs: "form" } as const;

export type Operation = (larder: Larder, prepared: Prepared, round: number) => Promise<Cost>;

/** Reads the ids and the number of pages from the database, and creates a small folder and a device. */
export async function prepareOperations(larder: Larder): Promise<Prepared> {
  const database = new Database(join(larder.directory, "data", "larder.db"), { readonly: true });
  const [range] = database
    .query<{ first: number; last: number }, []>("SELECT min(id) AS first, max(id) AS last FROM nodes WHERE kind = 1")
    .all();
  const [folder] = database
    .query<{ files: number }, [string]>(
      "SELECT child_files AS files FROM folders WHERE node_id = (SELECT id FROM nodes WHERE kind = 0 AND name = ?1)",
    )
    .all(SEEDED_FOLDER);
  if (range === undefined || folder === undefined) throw new Error("the account is empty");
  const find = database.prepare<{ id: string; name: string }, [number]>(
    "SELECT public_id AS id, name FROM nodes WHERE kind = 1 AND id >= ?1 LIMIT 1",
  );
  const files = Array.from({ length: SAMPLE_FILES }, () => {
    const near = range.first + Math.floor(Math.random() * (range.last - range.first));
    return find.get(near) ?? { id: "", name: "" };
  });
  find.finalize();
  database.close();
  const device = await registerDevice(larder, "bench-phone");
  const few = larder.uploadTemplate({ ...SMALL, folder: "few" });
  await load(larder, { connections: 4, count: SMALL_FOLDER_FILES, templates: [few] });
  const many = larder.uploadTemplate({ ...SMALL, folder: "uploaded" });
  const { responses } = await load(larder, { connections: 4, count: UPLOADS, templates: [many], storeBodies: true });
  const now = new Date(Date.now() + 60_000).toISOString();
  const status = await call(larder, `/api/mobile/sync/status?lastSync=${now}`, device);
  return {
    device,
    dav: await webDavOf(larder),
    ids: files.map(({ id }) => id),
    words: files.flatMap(({ name }) => UNIQUE_WORD.exec(name)?.[0] ?? []),
    lastPage: Math.ceil(folder.files / PAGE_FILES),
    syncToken: textAt(status, "data", "nextSyncToken"),
    uploaded: responses,
  };
}

async function cost(larder: Larder, plan: Omit<LoadPlan, "connections">): Promise<Cost> {
  const done = await load(larder, { connections: 1, ...plan });
  return { cpuMs: (done.cpuSeconds / done.requests) * 1000, p50Ms: done.p50Ms };
}

/** Sends GET requests for these paths in turn. */
function reads(larder: Larder, ...paths: string[]): Promise<Cost> {
  const templates = paths.map((path) => getTemplate(path, larder.headers));
  return cost(larder, { durationMs: DURATION_MS, templates });
}

function withBody(larder: Larder, method: string, path: string, body?: object): RequestTemplate {
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${larder.headers}`;
  if (body === undefined) return { head };
  return { head: `${head}Content-Type: application/json\r\n`, prefix: JSON.stringify(body) };
}

async function uploadTo(larder: Larder, folder: string): Promise<Cost> {
  return cost(larder, { durationMs: DURATION_MS, templates: [larder.uploadTemplate({ ...SMALL, folder })] });
}

/** Uploads files first, which don't count. */
async function deleteFiles(larder: Larder, _: Prepared, round: number): Promise<Cost> {
  const templates = [larder.uploadTemplate({ ...SMALL, folder: `deleted${round}` })];
  const sent = await load(larder, { connections: 8, count: UPLOADS, templates, storeBodies: true });
  const deletions = sent.responses.map(({ body }) => withBody(larder, "DELETE", `/api/files/${fileId(body)}`));
  return cost(larder, { count: UPLOADS, templates: deletions, isInOrder: true });
}

/** Reads whose results are cached. Before each pass, a change in the account makes cached results invalid. */
async function readAfterChanges(larder: Larder, paths: string[]): Promise<Cost> {
  const change = withBody(larder, "POST", "/api/files/folders", { name: "change ########", path: "/" });
  const templates = paths.map((path) => getTemplate(path, larder.headers));
  const costs: Cost[] = [];
  for (let pass = 0; pass < SEARCH_PASSES; pass += 1) {
    await load(larder, { connections: 1, count: 1, templates: [change] });
    costs.push(await cost(larder, { count: paths.length, templates, isInOrder: true }));
  }
  const cpuMs = costs.reduce((sum, each) => sum + each.cpuMs, 0) / costs.length;
  return { cpuMs, p50Ms: median(costs.map(({ p50Ms }) => p50Ms)) };
}

const namePath = (text: string) => `/api/files?search=${encodeURIComponent(text)}&limit=20`;
const wordPath = (text: string) => `/api/files/search?q=${encodeURIComponent(text)}&limit=20`;

/** By name, in the order in which they are measured. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["upload of 10 KiB", (larder, _, round) => uploadTo(larder, `new${round}`)],
  ["upload of 10 KiB to the large folder", (larder) => uploadTo(larder, SEEDED_FOLDER)],
  [
    "download of 10 KiB",
    (larder, { uploaded }) => {
      const templates = uploaded.map((response) => larder.downloadTemplate(response, { ...SMALL, folder: "uploaded" }));
      return cost(larder, { durationMs: DURATION_MS, templates });
    },
  ],
  ["file info", (larder, { ids }) => reads(larder, ...ids.map((id) => `/api/files/${id}`))],
  [
    "first page of the large folder",
    (larder) => reads(larder, `/api/files?folder=/${SEEDED_FOLDER}&limit=${PAGE_FILES}`),
  ],
  [
    "last page of the large folder",
    (larder, { lastPage }) => reads(larder, `/api/files?folder=/${SEEDED_FOLDER}&limit=${PAGE_FILES}&page=${lastPage}`),
  ],
  [
    "last page of the large folder by size",
    (larder, { lastPage }) =>
      reads(larder, `/api/files?folder=/${SEEDED_FOLDER}&limit=${PAGE_FILES}&page=${lastPage}&sort=size&order=desc`),
  ],
  ["list of a small folder by its path", (larder) => reads(larder, "/api/files?folder=/few&limit=20")],
  ["name search with 1 hit", (larder, { words }) => reads(larder, ...words.map(namePath))],
  ["name search with many hits", (larder) => readAfterChanges(larder, MANY_HITS.map(namePath))],
  ["search for a word with 1 hit", (larder, { words }) => reads(larder, ...words.map(wordPath))],
  [
    "search for words with many hits",
    (larder) =>
      readAfterChanges(larder, [MARKERS.half, ...WORDS.map((word) => `${MARKERS.half} ${word}`)].map(wordPath)),
  ],
  ["first page of the photos", (larder) => reads(larder, `/api/photos?limit=${PAGE_FILES}`)],
  ["days of all photos, after a change", (larder) => readAfterChanges(larder, ["/api/photos/timeline"])],
  [
    "changes since the last sync, none",
    (larder, { device, syncToken }) => {
      const templates = [getTemplate(`/api/mobile/sync/status?syncToken=${syncToken}&limit=100`, device.headers)];
      return cost(larder, { durationMs: DURATION_MS, templates });
    },
  ],
  [
    "PROPFIND of a small folder",
    async (_, { dav }) => {
      const measured = await measurePropfind(dav, "few/", SMALL_FOLDER_FILES + 1, 200);
      return { cpuMs: measured.cpuMs, p50Ms: measured.medianMs };
    },
  ],
  [
    "tag of a file",
    (larder, { ids }, round) => {
      const add = [`round ${round}`];
      const tag = (id: string) => withBody(larder, "POST", "/api/files/tags", { fileIds: [id], add });
      return cost(larder, { count: UPLOADS, templates: ids.slice(0, UPLOADS).map(tag), isInOrder: true });
    },
  ],
  ["delete of a file", deleteFiles],
  [
    "sign-in",
    (larder) => {
      const head = "POST /api/auth/signin HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
      const prefix = JSON.stringify({ email: larder.email, password: PASSWORD });
      return cost(larder, { count: SIGN_INS, templates: [{ head, prefix }] });
    },
  ],
  ["list of shares", (larder) => reads(larder, "/api/shares?limit=20")],
  ["usage of the account", (larder) => reads(larder, "/api/users/usage")],
]);
