/**
 * One large file by tus in one request, compared with a plain upload of the same size right before and after it, and
 * with a raw upload to the floor. Each response comes after the file is on the disk under its name.
 */
import { type Bench, compareFreshServers, record, type Row } from "../bench.ts";
import { isLarder, type Larder, PASSWORD } from "../larder.ts";
import { load } from "../load.ts";
import { peakResidentMib, resetPeakResident, residentMib } from "../measure.ts";
import type { Server } from "../server.ts";
import { textAt } from "../device.ts";

const MB = 1e6;
const MIB = 1 << 20;
const SIZE_MIB = 512;

export const tus: Row = {
  id: "tus",
  title: "a large file by tus in one request",
  diskGib: () => 3,
  run: async (bench: Bench) => {
    const sizeBytes = SIZE_MIB * MIB;
    const name = `${SIZE_MIB} MiB`;
    const speed = bench.figure({
      task: `${name} by tus, completed`,
      unit: "MB/s",
      better: "higher",
      targets: [{ against: "floor", reach: 0.8 }],
    });
    const share = bench.figure({
      task: `${name} by tus, as a multiple of the plain upload`,
      unit: "×",
      better: "higher",
      targets: [{ against: "number", reach: 1 }],
    });
    const peak = bench.figure({
      task: `peak RSS over idle, ${name} by tus`,
      unit: "MiB",
      better: "lower",
      targets: [{ against: "number", reach: 96 }],
    });
    await compareFreshServers(
      bench,
      [speed, share, peak],
      ["floor"],
      async (server, round) => {
        const plain = (part: string) =>
          sendPlain(server, sizeBytes, { folder: `r${round}`, name: `${part}.bin`, rawAs: "content" });
        if (!isLarder(server)) {
          record(speed, server.subject, sizeBytes / MB / ((await plain("floor")) / 1000));
          return;
        }
        const beforeMs = await plain("before");
        await Bun.sleep(1000);
        const idleMib = residentMib(server.pid);
        resetPeakResident(server.pid);
        const tusMs = await sendByTus(server, sizeBytes);
        record(peak, server.subject, Math.max(0, peakResidentMib(server.pid) - idleMib));
        const afterMs = await plain("after");
        record(speed, server.subject, sizeBytes / MB / (tusMs / 1000));
        record(share, server.subject, (beforeMs + afterMs) / 2 / tusMs);
      },
      true,
    );
  },
};

async function sendPlain(
  server: Server,
  sizeBytes: number,
  upload: { folder: string; name: string; rawAs: "content" },
): Promise<number> {
  const templates = [server.uploadTemplate({ ...upload, body: { random: sizeBytes } })];
  return (await load(server, { connections: 1, count: 1, templates })).elapsedMs;
}

/** @returns milliseconds from the request that creates the upload to the response that completes it */
async function sendByTus(larder: Larder, sizeBytes: number): Promise<number> {
  const home = `http://127.0.0.1:${larder.port}`;
  const signedIn = await fetch(`${home}/api/auth/signin`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: larder.email, password: PASSWORD }),
  });
  const authorization = `Bearer ${textAt(await signedIn.json(), "token")}`;
  const startedAt = performance.now();
  const created = await fetch(`${home}/api/tus`, {
    method: "POST",
    headers: { authorization, "tus-resumable": "1.0.0", "upload-length": String(sizeBytes) },
  });
  const location = created.headers.get("location");
  if (location === null)
    throw new Error(`tus responded with ${created.status}: ${(await created.text()).slice(0, 400)}`);
  const createMs = performance.now() - startedAt;
  const head =
    `PATCH ${location} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\nTus-Resumable: 1.0.0\r\n` +
    "Content-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\n";
  const sent = await load(larder, { connections: 1, count: 1, templates: [{ head, body: { random: sizeBytes } }] });
  return createMs + sent.elapsedMs;
}
