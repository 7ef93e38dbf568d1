import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { PART_BYTES } from "../../../../src/blobs/s3/etag.ts";
import { S3Client, type S3Source, toBody } from "../../../../src/blobs/s3/client.ts";
import type { S3Options } from "../../../../src/blobs/s3/options.ts";
import { S3Error } from "../../../../src/blobs/s3/error.ts";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { TestS3 } from "../../../support/s3-server.ts";

let s3: TestS3;
let options: S3Options;
let client: S3Client;

beforeAll(async () => {
  s3 = await TestS3.start();
  const { settings } = s3;
  options = {
    endpoint: settings["LARDER_S3_ENDPOINT"] ?? "",
    bucket: settings["LARDER_S3_BUCKET"] ?? "",
    accessKeyId: settings["LARDER_S3_ACCESS_KEY_ID"] ?? "",
    secretAccessKey: settings["LARDER_S3_SECRET_ACCESS_KEY"] ?? "",
    region: "us-east-1",
    isPathStyle: true,
    silenceMs: 1_000,
  };
  client = new S3Client(options);
});
afterEach(() => {
  s3.behavior = "well";
});
afterAll(() => s3.stop());

const text = new TextEncoder().encode("hello world");
const BUFFER_BYTES = 1_000_000;

async function joined(buffers: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const buffer of buffers) all.push(buffer);
  return Buffer.concat(all).toString();
}

async function problemOf(request: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await request.catch((thrown: unknown) => thrown);
  return error instanceof S3Error ? error.problem : undefined;
}

async function messageOf(request: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await request.catch((thrown: unknown) => thrown);
  return error instanceof Error ? error.message : undefined;
}

async function readAll(key: string, offset: number, lengthBytes: number): Promise<string> {
  return joined(await client.get(key, offset, lengthBytes));
}

test("writes, reads, lists and removes an object whose key needs escaping", async () => {
  await client.put("a/b c+d's", toBody(text));
  expect(await client.head("a/b c+d's")).toMatchObject({ sizeBytes: 11 });
  expect(await joined(await client.get("a/b c+d's", 0, 11))).toBe("hello world");
  expect(await joined(await client.get("a/b c+d's", 6, 5))).toBe("world");
  expect((await client.list("a/", "")).map(({ key, sizeBytes }) => [key, sizeBytes])).toEqual([["a/b c+d's", 11]]);
  expect(await client.list("a/", "a/b c+d's")).toEqual([]);
  await client.remove("a/b c+d's");
  await client.remove("a/b c+d's");
  expect(await client.head("a/b c+d's")).toBeUndefined();
});

test("an empty object is an object", async () => {
  await client.put("empty", toBody(new Uint8Array()));
  expect(await client.head("empty")).toMatchObject({ sizeBytes: 0 });
  expect(await joined(await client.get("empty", 0, 0))).toBe("");
});

/** Random bytes in several buffers. @param failsAt index of the buffer whose read fails */
function largeSource(sizeBytes: number, failsAt = Number.POSITIVE_INFINITY): S3Source & { bytes: Uint8Array } {
  const bytes = new Uint8Array(sizeBytes);
  for (let at = 0; at < sizeBytes; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  async function* read() {
    for (let at = 0, index = 0; at < sizeBytes; at += BUFFER_BYTES, index++) {
      if (index === failsAt) throw new Error("the disk");
      yield bytes.slice(at, at + BUFFER_BYTES);
    }
  }
  return { bytes, sizeBytes, sha256: toBody(bytes).sha256, read };
}

describe("an object of several parts", () => {
  test.each([
    ["ends in the middle of a part", 2 * PART_BYTES + 11, 3],
    ["ends with a part", 2 * PART_BYTES, 2],
  ])(
    "is stored as one: %s",
    async (_name, sizeBytes, parts) => {
      const source = largeSource(sizeBytes);
      const before = s3.requests.length;
      await client.putLarge("large", source);
      const sent = s3.requests.slice(before);
      expect(sent.filter((request) => request.includes("partNumber="))).toHaveLength(parts);
      expect(await client.head("large")).toMatchObject({ sizeBytes });
      expect(await joined(await client.get("large", PART_BYTES - 5, 10))).toBe(
        Buffer.from(source.bytes.subarray(PART_BYTES - 5, PART_BYTES + 5)).toString(),
      );
    },
    120_000,
  );

  test("is confirmed by the ETag that Amazon makes of its parts, and not read again", async () => {
    const source = largeSource(PART_BYTES + 11);
    const sums = [source.bytes.subarray(0, PART_BYTES), source.bytes.subarray(PART_BYTES)].map((part) =>
      createHash("md5").update(part).digest(),
    );
    const tag = `"${createHash("md5").update(Buffer.concat(sums)).digest("hex")}-2"`;
    const methods: string[] = [];
    using amazon = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch({ method, url }) {
        methods.push(method);
        if (method === "HEAD") return new Response(source.bytes, { headers: { etag: tag } });
        const isBegun = url.endsWith("?uploads=");
        return new Response(
          isBegun
            ? "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>"
            : `<CompleteMultipartUploadResult><ETag>${tag}</ETag></CompleteMultipartUploadResult>`,
          { headers: { etag: '"0"' } },
        );
      },
    });
    await new S3Client({ ...options, endpoint: amazon.url.origin }).putLarge("large", source);
    expect(methods).toEqual(["POST", "PUT", "PUT", "POST", "HEAD"]);
  });

  test.each([0, 3, 20])("is missing, with all its parts, if buffer %d can't be read", async (failsAt) => {
    const before = s3.requests.length;
    expect(await messageOf(client.putLarge("broken", largeSource(3 * PART_BYTES, failsAt)))).toBe("the disk");
    expect(await client.head("broken")).toBeUndefined();
    const sent = s3.requests.slice(before);
    const begun = sent.filter((request) => request.endsWith("?uploads="));
    expect(new Set(sent.filter((request) => request.startsWith("DELETE"))).size).toBe(begun.length);
  });

  test("is sent again if the service fails, up to a number of attempts", async () => {
    s3.failAfter(3);
    try {
      expect(await problemOf(client.putLarge("large", largeSource(3 * PART_BYTES)))).toBe("unreachable");
    } finally {
      s3.failAfter(undefined);
    }
  }, 120_000);
});

describe("an upload is confirmed", () => {
  test("wrong bytes are deleted", async () => {
    s3.behavior = "mangling";
    expect(await problemOf(client.put("wrong", toBody(text)))).toBe("damaged");
    expect(await problemOf(client.putLarge("wrong-too", largeSource(PART_BYTES + 1)))).toBe("damaged");
    s3.behavior = "well";
    expect(await client.head("wrong")).toBeUndefined();
    expect(await client.head("wrong-too")).toBeUndefined();
  }, 120_000);

  test("by reading it back if the ETag is not its checksum", async () => {
    s3.behavior = "sealing";
    const before = s3.requests.length;
    await client.put("sealed", toBody(text));
    expect(s3.requests.slice(before).map((request) => request.split(" ")[0])).toEqual(["PUT", "HEAD", "GET"]);
  });
});

describe("a transfer", () => {
  const key = "x/sha256/transfer";
  const bytes = new Uint8Array(200_000).fill(1);

  test.each([
    ["that is silent amid its bytes", "hanging-amid", "unreachable"],
    ["of an object that is too short", "short", "damaged"],
  ] as const)("%s ends in an error", async (_name, mood, problem) => {
    await client.put(key, toBody(bytes));
    s3.behavior = mood;
    expect(await problemOf(readAll(key, 0, bytes.length))).toBe(problem);
  });

  test("beyond the end of an object reports that the object is too short", async () => {
    await client.put(key, toBody(bytes));
    expect(await problemOf(readAll(key, bytes.length, 10))).toBe("damaged");
  });

  /** Closes the connection during each response except those to HEAD; with `isAway`, before each response. */
  async function problemsOfClosedConnection(head: string, isAway: boolean) {
    const dying = createServer((socket) => {
      socket.once("data", (data) => {
        const isHead = data.toString().startsWith("HEAD");
        if (!isAway) socket.write(isHead ? "HTTP/1.1 200 OK\r\ncontent-length: 20\r\netag: 1\r\n\r\n" : head);
      });
      setTimeout(() => socket.destroy(), 50);
    });
    await once(dying.listen(0, "127.0.0.1"), "listening");
    try {
      const address = dying.address();
      const port = typeof address === "object" ? address?.port : undefined;
      const cut = new S3Client({ ...options, endpoint: `http://127.0.0.1:${port}` });
      return [
        await problemOf(cut.get("x", 0, 20).then(joined)),
        await problemOf(cut.getSmall("x")),
        await problemOf(cut.put("x", toBody(text))),
      ];
    } finally {
      dying.close();
    }
  }

  const head = "HTTP/1.1 206 Partial Content\r\ncontent-length: 20\r\n\r\n";
  test.each([
    ["in the middle of its bytes", `${head}0123456789`],
    ["before its first byte", head],
  ])(
    "interrupted %s is no outage while the service responds",
    async (_name, sent) => {
      expect(await problemsOfClosedConnection(sent, false)).toEqual(["cut", "unreachable", "unreachable"]);
    },
    120_000,
  );

  test("with a broken connection ends with an error", async () => {
    expect(await problemsOfClosedConnection("", true)).toEqual(["unreachable", "unreachable", "unreachable"]);
  }, 120_000);

  test("of a whole object is rejected if a range was requested", async () => {
    await client.put(key, toBody(bytes));
    s3.behavior = "whole";
    let got = 0;
    const reading = async () => {
      for await (const buffer of await client.get(key, 50_000, 100_000)) got += buffer.length;
    };
    expect(await problemOf(reading())).toBe("unreachable");
    expect(got).toBeLessThan(100_000);
  });

  test("can be cancelled", async () => {
    await client.put(key, toBody(bytes));
    for await (const buffer of await client.get(key, 0, bytes.length)) {
      expect(buffer.length).toBeGreaterThan(0);
      break;
    }
  });
});

describe("an error names the problem:", () => {
  test.each([
    ["an unknown access key", { accessKeyId: "nobody" }, "refused"],
    ["a missing bucket", { bucket: "nowhere" }, "refused"],
    ["nothing at the address", { endpoint: "http://127.0.0.1:9" }, "unreachable"],
  ])("%s", async (_name, change, problem) => {
    expect(await problemOf(new S3Client({ ...options, ...change }).getSmall("x"))).toBe(problem);
  });

  test("a failing service is tried again, up to a number of attempts", async () => {
    s3.behavior = "failing";
    const before = s3.requests.length;
    expect(await problemOf(client.getSmall("x"))).toBe("unreachable");
    expect(s3.requests.length - before).toBe(3);
  });

  test("a silent service causes a timeout", async () => {
    s3.behavior = "hanging";
    expect(await problemOf(client.getSmall("x"))).toBe("unreachable");
    expect(await problemOf(client.head("x"))).toBe("unreachable");
    expect(await problemOf(client.get("x", 0, 1))).toBe("unreachable");
    expect(await problemOf(client.put("x", toBody(text)))).toBe("unreachable");
    expect(await problemOf(client.list("x", ""))).toBe("unreachable");
    expect(await problemOf(client.remove("x"))).toBe("unreachable");
  }, 120_000);

  test("a missing bucket is not reported as a missing object", async () => {
    const nowhere = new S3Client({ ...options, bucket: "nowhere" });
    expect(await problemOf(nowhere.head("x"))).toBe("refused");
    expect(await problemOf(nowhere.remove("x"))).toBe("refused");
    expect(await problemOf(nowhere.get("x", 0, 1))).toBe("refused");
  });

  test("a missing object", async () => {
    expect(await client.getSmall("nothing")).toBeUndefined();
    expect(await problemOf(client.get("nothing", 0, 5))).toBe("absent");
  });
});
