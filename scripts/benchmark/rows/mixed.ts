/**
 * The latency of file info and listings, requested at a steady rate, while the server is busy: with eight large
 * uploads, two connections that upload photos with thumbnails, and many sign-ins from different addresses. The clients
 * of that load run at a lower priority, as real ones have their own processors.
 */
import { type Bench, compareFreshServers, record, type Row } from "../bench.ts";
import { type Larder, PASSWORD } from "../larder.ts";
import { load, type LoadResult, loadLeniently } from "../load.ts";
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
    await compareFreshServers(bench, [p50, p99], ["larder"], async (server, round) => {
      if (!isLarder(server)) return;
      const templates = [server.uploadTemplate(upload)];
      const sent = await load(server, { connections: 4, count: 200, templates, storeBodies: true });
      const others = sent.responses.flatMap((response) => [
        server.infoTemplate(response) ?? [],
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

/** Each sign-in comes from another IPv6 network, as the limit per address would otherwise reject nearly all. */
function signin(larder: Larder): RequestTemplate {
  return {
    head:
      "POST /api/auth/signin HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" +
      "X-Forwarded-For: 2001:db8:####:1::1\r\n",
    prefix: JSON.stringify({ email: larder.email, password: PASSWORD }),
  };
}

function summary(name: string, loaded: LoadResult | undefined): Record<string, unknown> {
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
