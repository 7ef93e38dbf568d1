/**
 * Files by WebDAV, compared with the API of the same server: many small uploads, one large upload, one large download.
 */
import {
  type Bench,
  type Figure,
  measureInTurns,
  type Participant,
  record,
  type Row,
  stopAndRemove,
} from "../bench.ts";
import type { Larder } from "../larder.ts";
import { load, syncFileSystem } from "../load.ts";
import { getTemplate, type Subject, type Upload } from "../server.ts";
import type { RecordedResponse, RequestTemplate } from "../job.ts";
import { authorize } from "../webdav.ts";

const MB = 1e6;
const GIB = 2 ** 30;
const SMALL_BYTES = 10 << 10;
const SIZE_MIB = 256;
const DURATION_MS = 1500;

/** One of the two ways to the same files. */
interface Way {
  subject: Subject;
  upload: (upload: Upload) => RequestTemplate;
  /** @param folder of an upload that `response` confirmed */
  download: (response: RecordedResponse, upload: Upload) => RequestTemplate;
}

export const webdavFiles: Row = {
  id: "webdav-files",
  title: "WebDAV uploads and downloads",
  diskGib: ({ rounds }) => 2 + rounds,
  run: async (bench: Bench) => {
    const size = `${SIZE_MIB} MiB`;
    const compare = (task: string, unit: string, reach: number) =>
      bench.figure({ task, unit, better: "higher", targets: [{ against: "api", reach }] });
    const small = compare("10 KiB PUT at 16", "files/s", 0.9);
    const put = compare(`${size} PUT`, "MB/s", 0.95);
    const get = compare(`${size} GET`, "MB/s", 0.95);
    const larders: Larder[] = [];
    try {
      for (const subject of bench.larders()) larders.push(await bench.startLarder(subject));
      const participants: Participant[] = [];
      for (const larder of larders) {
        for (const way of waysOf(larder, await authorize(larder))) {
          // A comparison has no other baseline than the earlier executable.
          if (way.subject === "api" && bench.options.before !== undefined) continue;
          participants.push({
            subject: way.subject,
            measure: async (round: number) => {
              await measureSmall(larder, way, round, small);
              await measureLarge(larder, way, { round, sizeBytes: SIZE_MIB << 20 }, [put, get]);
            },
          });
        }
      }
      await measureInTurns(bench, [small, put, get], participants, true);
    } finally {
      for (const larder of larders) await stopAndRemove(larder);
    }
  },
};

/** The same uploads and downloads by WebDAV and by the API. The API's names do not repeat, so all folders are its own. */
function waysOf(larder: Larder, authorization: string): Way[] {
  const headers = `Authorization: ${authorization}\r\n`;
  return [
    {
      subject: larder.subject,
      upload: ({ folder, name, body }) => ({
        head: `PUT /dav/${folder}/${name} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}`,
        body,
      }),
      download: ({ number }, { folder, name }) => {
        const digits = number.toString(16).padStart(8, "0");
        return getTemplate(`/dav/${folder}/${name.replaceAll("########", digits)}`, headers);
      },
    },
    {
      subject: "api",
      upload: (upload) => larder.uploadTemplate(upload),
      download: (response, upload) => larder.downloadTemplate(response, upload),
    },
  ];
}

/** Creates a folder, which a PUT by WebDAV does not do. */
async function createFolder(larder: Larder, name: string): Promise<void> {
  const head = `POST /api/files/folders HTTP/1.1\r\nHost: 127.0.0.1\r\n${larder.headers}Content-Type: application/json\r\n`;
  const prefix = JSON.stringify({ name, path: "/" });
  await load(larder, { connections: 1, count: 1, templates: [{ head, prefix }] });
}

async function measureSmall(larder: Larder, way: Way, round: number, figure: Figure): Promise<void> {
  const folder = `small-${way.subject}-${round}`;
  await createFolder(larder, folder);
  const upload: Upload = { folder, name: "small-########.bin", body: { random: SMALL_BYTES }, rawAs: "content" };
  await syncFileSystem(larder.directory);
  const done = await load(larder, { connections: 16, durationMs: DURATION_MS, templates: [way.upload(upload)] });
  record(figure, way.subject, done.perSecond, { value: (done.cpuSeconds / done.requests) * 1000, unit: "ms" });
}

async function measureLarge(
  larder: Larder,
  way: Way,
  { round, sizeBytes }: { round: number; sizeBytes: number },
  [put, get]: [Figure, Figure],
): Promise<void> {
  const folder = `large-${way.subject}-${round}`;
  await createFolder(larder, folder);
  const upload: Upload = { folder, name: "large-########.bin", body: { random: sizeBytes }, rawAs: "content" };
  await syncFileSystem(larder.directory);
  const sent = await load(larder, { connections: 1, count: 1, templates: [way.upload(upload)] });
  record(put, way.subject, sizeBytes / MB / (sent.elapsedMs / 1000), {
    value: sent.cpuSeconds / (sizeBytes / GIB),
    unit: "s/GiB",
  });
  const response = sent.responses[0];
  if (response === undefined) throw new Error("the upload had no response");
  const templates = [way.download(response, upload)];
  // The first download puts the file into the page cache.
  await load(larder, { connections: 1, count: 1, templates });
  const read = await load(larder, { connections: 1, count: 3, templates });
  record(get, way.subject, (3 * sizeBytes) / MB / (read.elapsedMs / 1000), {
    value: read.cpuSeconds / ((3 * sizeBytes) / GIB),
    unit: "s/GiB",
  });
}
