import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../../src/errors.ts";
import { sendBlob, SMALL_BLOB_MAX_BYTES } from "../../../src/http/send-blob.ts";

const LARGE_BYTES = SMALL_BLOB_MAX_BYTES + 1000;
const MODIFIED_MS = Date.UTC(2026, 6, 1, 12, 0, 0, 789);
const folder = mkdtempSync(join(tmpdir(), "larder-send-"));
const contents: Record<string, Buffer> = {
  small: Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251)),
  large: Buffer.from(Array.from({ length: LARGE_BYTES }, (_, i) => i % 241)),
  empty: Buffer.alloc(0),
};

let lastBytesToSend = -1;
let lastKind = "";

/** Answers `/{content}?type=…&name=…&inline=1` through sendBlob, as a route would. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const url = new URL(request.url);
    const path = join(folder, url.pathname.slice(1));
    try {
      const sent = sendBlob({
        request,
        blob: {
          sizeBytes: contents[url.pathname.slice(1)]?.length ?? LARGE_BYTES,
          path: () => path,
          ...(!url.searchParams.has("file") && { read: () => readFileSync(path) }),
          ...(url.searchParams.has("pieces") && {
            readRange: (offset: number, length: number) => readFileSync(path).subarray(offset, offset + length),
          }),
        },
        etag: '"abc"',
        lastModifiedMs: MODIFIED_MS,
        mediaType: url.searchParams.get("type") ?? "image/png",
        fileName: url.searchParams.get("name") ?? "a.png",
        inline: url.searchParams.has("inline"),
        extraHeaders: { "x-extra": "1" },
      });
      lastBytesToSend = sent.bytesToSend;
      lastKind = sent.kind;
      return sent.response;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return Response.json({ reason: error.reason, details: error.details }, { status: 499 });
    }
  },
});

beforeAll(() => {
  for (const [name, bytes] of Object.entries(contents)) writeFileSync(join(folder, name), bytes);
  writeFileSync(join(folder, "cut"), Buffer.alloc(70_000));
});
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true });
});

async function get(path: string, headers: Record<string, string> = {}, method = "GET") {
  const response = await fetch(`http://127.0.0.1:${server.port}/${path}`, { method, headers });
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, body };
}

/** All headers but the time of the response. */
function lasting(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([key]) => key !== "date"));
}

async function dispositionOf(query: string): Promise<string | null> {
  return (await get(`small?${query}`)).headers.get("content-disposition");
}

test("responses made one after the other, before either is sent, keep their own bytes", async () => {
  const send = (byte: number, range?: string) =>
    sendBlob({
      request: new Request("http://localhost/", range === undefined ? {} : { headers: { range } }),
      blob: {
        sizeBytes: range === undefined ? 1000 : LARGE_BYTES,
        path: () => join(folder, "large"),
        read: (into) => into.subarray(0, 1000).fill(byte),
        readRange: (_, length, into) => into.subarray(0, length).fill(byte),
      },
      etag: '"abc"',
      lastModifiedMs: MODIFIED_MS,
      mediaType: "image/png",
      fileName: "a.png",
      inline: false,
    }).response;
  const responses = [send(1), send(2), send(3, "bytes=0-499"), send(4, "bytes=500-999"), send(5)];
  const bodies = await Promise.all(responses.map((response) => response.bytes()));
  expect(bodies.map((body) => [body.length, ...new Set(body)])).toEqual([
    [1000, 1],
    [1000, 2],
    [500, 3],
    [500, 4],
    [1000, 5],
  ]);
});

describe("sending a content", () => {
  test.each(["small", "small?file", "large", "empty", "empty?file"])(
    "%s comes whole, with every header of the API",
    async (name) => {
      const { status, headers, body } = await get(name);
      expect(status).toBe(200);
      expect(body.equals(contents[name.split("?")[0] ?? ""] ?? Buffer.alloc(1))).toBe(true);
      expect(lasting(headers)).toEqual({
        "accept-ranges": "bytes",
        "cache-control": "private, max-age=3600",
        "content-disposition": 'attachment; filename="a.png"',
        "content-length": String(body.length),
        "content-security-policy":
          "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox",
        "content-type": "image/png",
        etag: '"abc"',
        "last-modified": "Wed, 01 Jul 2026 12:00:00 GMT",
        vary: "Authorization, Cookie",
        "x-content-type-options": "nosniff",
        "x-extra": "1",
      });
      expect([lastKind, lastBytesToSend]).toEqual(["whole", body.length]);
    },
  );

  test.each(["small", "large", "empty"])("HEAD of %s has the same headers and no body", async (name) => {
    const whole = await get(name);
    const head = await get(name, { range: "bytes=0-1" }, "HEAD");
    expect(head.status).toBe(200);
    expect(head.body.length).toBe(0);
    expect(lasting(head.headers)).toEqual(lasting(whole.headers));
    expect([lastKind, lastBytesToSend]).toEqual(["head", 0]);
  });

  test.each(["small", "large", "large?pieces"])("one range of %s is 206 with its place and length", async (name) => {
    const bytes = contents[name.split("?")[0] ?? ""] ?? Buffer.alloc(0);
    for (const [range, from, to] of [
      ["bytes=0-0", 0, 1],
      ["bytes=100-199", 100, 200],
      ["bytes=990-", 990, bytes.length],
      ["bytes=-10", bytes.length - 10, bytes.length],
    ] as const) {
      const { status, headers, body } = await get(name, { range });
      expect(status).toBe(206);
      expect(headers.get("content-range")).toBe(`bytes ${from}-${to - 1}/${bytes.length}`);
      expect(headers.get("content-length")).toBe(String(to - from));
      expect(body.equals(bytes.subarray(from, to))).toBe(true);
      expect([lastKind, lastBytesToSend]).toEqual(["range", to - from]);
    }
  });

  test.each(["small", "large"])("several ranges of %s come as multipart/byteranges", async (name) => {
    const bytes = contents[name] ?? Buffer.alloc(0);
    const { status, headers, body } = await get(name, { range: "bytes=500-599,0-9,-1" });
    expect(status).toBe(206);
    const boundary = /^multipart\/byteranges; boundary=([0-9a-f]{36})$/.exec(headers.get("content-type") ?? "")?.[1];
    const part = (from: number, to: number): string =>
      `--${boundary}\r\nContent-Type: image/png\r\nContent-Range: bytes ${from}-${to - 1}/${bytes.length}\r\n\r\n${bytes.toString("latin1", from, to)}\r\n`;
    const size = bytes.length;
    expect(body.toString("latin1")).toBe(`${part(500, 600)}${part(0, 10)}${part(size - 1, size)}--${boundary}--\r\n`);
    expect([lastKind, lastBytesToSend]).toEqual(["ranges", body.length]);
  });

  test("a range beyond the end is rejected with the size; overlapping ones are ignored", async () => {
    const beyond = await get("large", { range: `bytes=${LARGE_BYTES}-` });
    expect(JSON.parse(beyond.body.toString())).toEqual({
      reason: "range_not_satisfiable",
      details: { sizeBytes: LARGE_BYTES },
    });
    expect((await get("large", { range: "bytes=0-9,5-20" })).status).toBe(200);
  });

  test("304 carries what caches need and nothing of the body", async () => {
    const { status, headers } = await get("large", { "if-none-match": '"abc"', range: "bytes=0-1" });
    expect(status).toBe(304);
    expect(headers.get("etag")).toBe('"abc"');
    expect(headers.get("cache-control")).toBe("private, max-age=3600");
    expect(headers.get("vary")).toBe("Authorization, Cookie");
    expect(headers.get("last-modified")).toBe("Wed, 01 Jul 2026 12:00:00 GMT");
    expect(headers.has("content-type")).toBe(false);
    expect([lastKind, lastBytesToSend]).toEqual(["notModified", 0]);
  });

  test("a failed precondition is rejected, a stale If-Range gets the whole", async () => {
    const failed = await get("small", { "if-match": '"old"' });
    expect(JSON.parse(failed.body.toString()).reason).toBe("precondition_failed");
    const whole = await get("small", { "if-range": '"old"', range: "bytes=0-1" });
    expect([whole.status, whole.body.length]).toEqual([200, 1000]);
  });

  test("a file that is missing or truncated is reported before the response begins", async () => {
    expect(JSON.parse((await get("nowhere")).body.toString()).reason).toBe("content_missing");
    expect(JSON.parse((await get("cut")).body.toString()).reason).toBe("content_damaged");
    expect(JSON.parse((await get("cut", { range: "bytes=0-1" })).body.toString()).reason).toBe("content_damaged");
  });
});

describe("how a content is named and shown", () => {
  test("inline is granted to harmless types alone", async () => {
    expect(await dispositionOf("inline&type=image/png")).toStartWith("inline;");
    expect(await dispositionOf("inline&type=application/pdf")).toStartWith("inline;");
    for (const type of [
      "image/svg%2Bxml",
      "text/html",
      "application/xhtml%2Bxml",
      "application/xml",
      "text/javascript",
    ]) {
      expect(await dispositionOf(`inline&type=${type}`)).toStartWith("attachment;");
    }
  });

  test("a PDF is not sandboxed, for the viewers' sake, but may run nothing", async () => {
    const policy = (await get("small?inline&type=application/pdf")).headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("sandbox");
    expect(policy).not.toContain("script-src");
  });

  test("sound and film are sandboxed without losing their origin, so that they play in place", async () => {
    for (const type of ["audio/wav", "video/mp4"]) {
      const policy = (await get(`small?inline&type=${type}`)).headers.get("content-security-policy") ?? "";
      expect(policy).toEndWith("sandbox allow-same-origin");
      expect(policy).not.toContain("script");
    }
  });

  test("text says its charset only where it is shown", async () => {
    expect((await get("small?type=text/plain")).headers.get("content-type")).toBe("text/plain");
    expect((await get("small?inline&type=text/plain")).headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  test.each([
    ["plain.txt", 'attachment; filename="plain.txt"'],
    ["two words.txt", 'attachment; filename="two words.txt"'],
    ['a"b\\c.txt', 'attachment; filename="a\\"b\\\\c.txt"'],
    ["€ 日本.txt", "attachment; filename=\"? ??.txt\"; filename*=UTF-8''%E2%82%AC%20%E6%97%A5%E6%9C%AC.txt"],
    ["100%25.txt", "attachment; filename=\"100%25.txt\"; filename*=UTF-8''100%2525.txt"],
    ["a\r\nX-Evil: 1.txt", "attachment; filename=\"a??X-Evil: 1.txt\"; filename*=UTF-8''a%0D%0AX-Evil%3A%201.txt"],
  ])("the name %p", async (name, expected) => {
    expect(await dispositionOf(`name=${encodeURIComponent(name)}`)).toBe(expected);
  });
});
