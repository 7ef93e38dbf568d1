/**
 * One large file in chunks over several connections, as a phone or a browser sends it, compared with one raw upload of
 * the same size to the floor. Each chunk is on the disk before it is acknowledged.
 */
import { type Bench, compareFreshServers, record, type Row } from "../bench.ts";
import { at, call, type Device, registerDevice, textAt } from "../device.ts";
import type { RequestTemplate } from "../job.ts";
import type { Larder } from "../larder.ts";
import { load } from "../load.ts";
import { peakResidentMib, resetPeakResident, residentMib } from "../measure.ts";
import type { Server } from "../server.ts";

const MB = 1e6;
const MIB = 1 << 20;
const CHUNK_BYTES = 8 * MIB;
const CONNECTIONS = 4;

export const chunks: Row = {
  id: "chunks",
  title: "a large file in chunks of 8 MiB by 4 connections",
  diskGib: ({ quick }) => (quick ? 1 : 3),
  run: async (bench: Bench) => {
    const sizeBytes = (bench.options.quick ? 256 : 1024) * MIB;
    const name = bench.options.quick ? "256 MiB" : "1 GiB";
    const speed = bench.figure({
      task: `${name} in 8 MiB chunks at ${CONNECTIONS}, completed`,
      unit: "MB/s",
      better: "higher",
      targets: [{ against: "floor", reach: 0.9 }],
    });
    const complete = bench.figure({
      task: `completing ${name} of chunks`,
      unit: "ms",
      better: "lower",
      targets: [{ against: "number", reach: 50 }],
    });
    const peak = bench.figure({
      task: `peak RSS over idle, ${name} in chunks`,
      unit: "MiB",
      better: "lower",
      targets: [{ against: "number", reach: 96 }],
    });
    await compareFreshServers(
      bench,
      [speed, complete, peak],
      ["floor", "larder"],
      async (server, round) => {
        await Bun.sleep(1000);
        const idleMib = residentMib(server.pid);
        resetPeakResident(server.pid);
        if (isLarder(server)) {
          const sent = await sendChunks(server, sizeBytes);
          record(speed, "larder", sizeBytes / MB / ((sent.chunksMs + sent.completeMs) / 1000));
          record(complete, "larder", sent.completeMs);
        } else {
          const upload = {
            folder: `r${round}`,
            name: "large.bin",
            body: { random: sizeBytes },
            rawAs: "content",
          } as const;
          const templates = [server.uploadTemplate(upload)];
          const sent = await load(server, { connections: 1, count: 1, templates });
          record(speed, server.subject, sizeBytes / MB / (sent.elapsedMs / 1000));
        }
        record(peak, server.subject, Math.max(0, peakResidentMib(server.pid) - idleMib));
      },
      true,
    );
  },
};

function isLarder(server: Server): server is Larder {
  return server.subject === "larder";
}

async function sendChunks(larder: Larder, sizeBytes: number): Promise<{ chunksMs: number; completeMs: number }> {
  const device = await registerDevice(larder, "bench-phone");
  const planned = await call(larder, "/api/mobile/upload/init", device, {
    files: [{ localId: "1", name: "large.bin", size: sizeBytes, mimeType: "application/octet-stream", folder: "/" }],
    uploadOptions: { chunkSize: CHUNK_BYTES },
  });
  const uploadId = textAt(planned, "data", "files", 0, "uploadId");
  const parts = at(planned, "data", "files", 0, "chunks");
  if (!Array.isArray(parts)) throw new Error("the plan has no chunks");
  const templates = parts.map((part: unknown) => chunkTemplate(larder, device, part));
  const sent = await load(larder, { connections: CONNECTIONS, count: templates.length, templates, isInOrder: true });
  const startedAt = performance.now();
  await call(larder, "/api/mobile/upload/complete", device, { uploadId });
  return { chunksMs: sent.elapsedMs, completeMs: performance.now() - startedAt };
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
