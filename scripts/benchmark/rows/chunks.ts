/**
 * One large file in chunks over several connections, as a phone or a browser sends it. The connections are cut in the
 * middle, and the upload is resumed. Compared with the tus server of the protocol's authors, which doesn't sync files,
 * and with one whole upload to the floor. Larder acknowledges a chunk when it is on the disk.
 */
import { type Bench, compareStarted, record, type Row } from "../bench.ts";
import { at, call, type Device, registerDevice, textAt } from "../device.ts";
import type { RequestTemplate } from "../job.ts";
import { isLarder, type Larder } from "../larder.ts";
import { load } from "../load.ts";
import { peakResidentMib, resetPeakResident, residentMib } from "../measure.ts";
import type { Server } from "../server.ts";
import { startTusServer } from "../tus-server.ts";

const MB = 1e6;
const MIB = 1 << 20;
const CHUNK_BYTES = 8 * MIB;
const CONNECTIONS = 4;
/** The connections are cut after half of the file and this, so that chunks are incomplete. */
const CUT_BEYOND_HALF_BYTES = 5 * MIB;

/** What an upload took. */
interface Sent {
  totalMs: number;
  /** From the request for the state after the cut to its response. */
  stateMs: number;
  completeMs: number;
}

export const chunks: Row = {
  id: "chunks",
  title: "a large file in chunks, cut and resumed",
  diskGib: ({ quick, rounds }) => (quick ? 1 : 2 + 2 * rounds),
  run: async (bench: Bench) => {
    const sizeBytes = (bench.options.quick ? 256 : 1024) * MIB;
    const name = bench.options.quick ? "256 MiB" : "1 GiB";
    const limited = (task: string, unit: string, reach: number) =>
      bench.figure({ task, unit, better: "lower", targets: [{ against: "number", reach }] });
    const speed = bench.figure({
      task: `${name} in 8 MiB chunks at ${CONNECTIONS}, cut and resumed`,
      unit: "MB/s",
      better: "higher",
      targets: [{ against: "tus", reach: 1.3 }],
    });
    const state = limited("state of an upload after a cut", "ms", 10);
    const complete = limited(`completing ${name} of chunks`, "ms", 50);
    const peak = limited(`peak RSS over idle, ${name} in chunks`, "MiB", 96);
    await compareStarted(bench, {
      figures: [speed, state, complete, peak],
      baselines: ["floor", "tus"],
      warmUp: true,
      start: (subject) => (subject === "tus" ? startTusServer(bench.directory("tus")) : bench.start(subject)),
      prepare: async (server) => (isLarder(server) ? registerDevice(server, "bench-phone") : undefined),
      measure: async (server, round, device) => {
        const { subject } = server;
        await Bun.sleep(1000);
        const idleMib = residentMib(server.pid);
        resetPeakResident(server.pid);
        const sent = await send(server, sizeBytes, round, device);
        record(speed, subject, sizeBytes / MB / (sent.totalMs / 1000));
        record(peak, subject, Math.max(0, peakResidentMib(server.pid) - idleMib));
        if (subject !== "floor") record(state, subject, sent.stateMs);
        if (device !== undefined) record(complete, subject, sent.completeMs);
      },
    });
  },
};

async function send(server: Server, sizeBytes: number, round: number, device: Device | undefined): Promise<Sent> {
  if (isLarder(server) && device !== undefined) return sendChunks(server, device, sizeBytes);
  if (server.subject === "tus") return sendByTus(server, sizeBytes);
  const upload = { folder: `r${round}`, name: "large.bin", rawAs: "content" } as const;
  const templates = [server.uploadTemplate({ ...upload, body: { random: sizeBytes } })];
  const sent = await load(server, { connections: 1, count: 1, templates });
  return { totalMs: sent.elapsedMs, stateMs: 0, completeMs: 0 };
}

async function sendChunks(larder: Larder, device: Device, sizeBytes: number): Promise<Sent> {
  const planned = await call(larder, "/api/mobile/upload/init", device, {
    files: [
      {
        localId: crypto.randomUUID(),
        name: `${crypto.randomUUID()}.bin`,
        size: sizeBytes,
        mimeType: "application/octet-stream",
        folder: "/",
      },
    ],
    uploadOptions: { chunkSize: CHUNK_BYTES },
  });
  const uploadId = textAt(planned, "data", "files", 0, "uploadId");
  const parts = at(planned, "data", "files", 0, "chunks");
  if (!Array.isArray(parts)) throw new Error("the plan has no chunks");
  const templates = parts.map((part: unknown) => chunkTemplate(larder, device, part));
  const cut = await load(larder, {
    connections: CONNECTIONS,
    count: templates.length,
    templates,
    isInOrder: true,
    cutAfterBytes: sizeBytes / 2 + CUT_BEYOND_HALF_BYTES,
  });
  const cutAt = performance.now();
  const missing = at(await call(larder, `/api/mobile/upload/${uploadId}`, device), "data", "missingChunks");
  const stateMs = performance.now() - cutAt;
  if (!Array.isArray(missing)) throw new Error("the state of the upload lists no missing chunks");
  const rest = templates.filter((_, index) => missing.includes(index));
  const resumed = await load(larder, {
    connections: CONNECTIONS,
    count: rest.length,
    templates: rest,
    isInOrder: true,
  });
  const startedAt = performance.now();
  await call(larder, "/api/mobile/upload/complete", device, { uploadId });
  const completeMs = performance.now() - startedAt;
  return { totalMs: cut.elapsedMs + stateMs + resumed.elapsedMs + completeMs, stateMs, completeMs };
}

function chunkTemplate(larder: Larder, device: Device, part: unknown): RequestTemplate {
  const url = new URL(textAt(part, "uploadUrl"));
  const length = Number(at(part, "end")) - Number(at(part, "start")) + 1;
  return {
    head:
      `PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: 127.0.0.1:${larder.port}\r\n${device.headers}` +
      "Content-Type: application/octet-stream\r\n",
    body: { random: length },
  };
}

async function sendByTus(server: Server, sizeBytes: number): Promise<Sent> {
  const home = `http://${server.host}:${server.port}/files`;
  const version = { "tus-resumable": "1.0.0" };
  const startedAt = performance.now();
  const created = await fetch(home, { method: "POST", headers: { ...version, "upload-length": String(sizeBytes) } });
  const createMs = performance.now() - startedAt;
  const location = created.headers.get("location");
  if (location === null) throw new Error(`tus responded with ${created.status}`);
  const path = new URL(location, home).pathname;
  const patch = (offset: number, bytes: number): RequestTemplate => ({
    head:
      `PATCH ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\n` +
      `Content-Type: application/offset+octet-stream\r\nUpload-Offset: ${offset}\r\n`,
    body: { random: bytes },
  });
  const cutAfterBytes = sizeBytes / 2 + CUT_BEYOND_HALF_BYTES;
  const cut = await load(server, { connections: 1, count: 1, templates: [patch(0, sizeBytes)], cutAfterBytes });
  const cutAt = performance.now();
  const state = await fetch(new URL(path, home), { method: "HEAD", headers: version });
  const stateMs = performance.now() - cutAt;
  const offset = Number(state.headers.get("upload-offset"));
  const resumed = await load(server, { connections: 1, count: 1, templates: [patch(offset, sizeBytes - offset)] });
  return { totalMs: createMs + cut.elapsedMs + stateMs + resumed.elapsedMs, stateMs, completeMs: 0 };
}
