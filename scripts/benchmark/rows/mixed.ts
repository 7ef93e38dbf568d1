/**
 * How long everyone else waits while the server is busy: eight large uploads, two streams of photos whose thumbnails
 * are made, and a sign-in storm from many addresses. File info and a listing are asked for at a steady rate beside it.
 * The busy clients run at a lower priority than that, as in life they have a processor of their own.
 */
import { type Bench, freshContest, record, type Row } from "../bench.ts";
import { type Larder, PASSWORD } from "../larder.ts";
import { load, type Loaded, loadLeniently } from "../load.ts";
import type { RequestTemplate } from "../job.ts";
import { getTemplate, type Server } from "../server.ts";
import { makePhotos } from "./thumbnails.ts";

const MIB = 1 << 20;

export const mixed: Row = {
  id: "mixed",
  title: "other requests while the server is busy",
  diskGib: ({ quick }) => (quick ? 3 : 8),
  run: async (bench: Bench) => {
    const photos = await makePhotos(bench, 6);
    const p50 = bench.figure({ task: "other requests while busy, p50", unit: "ms", better: "lower" });
    const p99 = bench.figure({
      task: "other requests while busy, p99",
      unit: "ms",
      better: "lower",
      targets: [{ against: "number", reach: 50, aim: 20 }],
    });
    const upload = { folder: "small", name: "small-########.bin", body: { random: 10 << 10 }, rawAs: "form" } as const;
    await freshContest(bench, [p50, p99], ["larder"], async (server, round) => {
      if (!isLarder(server)) return;
      const templates = [server.uploadTemplate(upload)];
      const sent = await load(server, { connections: 4, count: 200, templates, keepBodies: true });
      const others = sent.answers.flatMap((answer) => [
        server.infoTemplate(answer) ?? [],
        getTemplate("/api/files?folder=/small&limit=50", server.headers),
      ]);
      const durationMs = bench.options.quick ? 5000 : 10_000;
      const busy = { durationMs, isBackground: true };
      const [steady, ...background] = await Promise.all([
        load(server, { connections: 16, durationMs, ratePerSecond: 100, templates: others.flat() }),
        load(server, { ...busy, connections: 8, count: bench.options.quick ? 20 : 64, templates: [large(server)] }),
        load(server, { ...busy, connections: 2, templates: photos.map((file) => photo(server, file)) }),
        loadLeniently(server, { ...busy, connections: 4, templates: [signin(server)], accept: [429] }),
      ]);
      record(p50, "larder", steady.p50Ms);
      record(p99, "larder", steady.p99Ms);
      bench.details[`round ${round}`] = ["large uploads", "photos", "sign-ins"].map((name, index) =>
        summary(name, background[index]),
      );
    });
  },
};

function isLarder(server: Server): server is Larder {
  return server.subject === "larder";
}

function large(larder: Larder): RequestTemplate {
  const body = { random: 100 * MIB };
  return larder.uploadTemplate({ folder: "large", name: "large-########.bin", body, rawAs: "form" });
}

function photo(larder: Larder, file: string): RequestTemplate {
  const mediaType = "image/jpeg";
  return larder.uploadTemplate({
    folder: "photos",
    name: "photo-########.jpg",
    body: { file },
    mediaType,
    rawAs: "form",
  });
}

/** From an IPv6 network of its own each time: from one address the ceiling on sign-ins would end the storm at once. */
function signin(larder: Larder): RequestTemplate {
  return {
    head:
      "POST /api/auth/signin HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" +
      "X-Forwarded-For: 2001:db8:####:1::1\r\n",
    prefix: JSON.stringify({ email: larder.email, password: PASSWORD }),
  };
}

function summary(name: string, loaded: Loaded | undefined): Record<string, unknown> {
  return {
    name,
    requests: loaded?.requests,
    perSecond: loaded?.perSecond,
    p50Ms: loaded?.p50Ms,
    p99Ms: loaded?.p99Ms,
    statuses: loaded?.statuses,
    failures: loaded?.failures,
    firstFailure: loaded?.firstFailure,
  };
}
