import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { S3Client, S3Error, type S3Options, toBody } from "../../../../src/blobs/s3/client.ts";
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
  s3.mood = "well";
});
afterAll(() => s3.stop());

const text = new TextEncoder().encode("hello world");

async function joined(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString();
}

async function problemOf(deed: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await deed.catch((thrown: unknown) => thrown);
  return error instanceof S3Error ? error.problem : undefined;
}

test("keeps, reads, lists and removes an object whose key needs escaping", async () => {
  await client.put("a/b c+d's", toBody(text));
  expect(await client.head("a/b c+d's")).toEqual({ sizeBytes: 11 });
  expect(await joined(await client.get("a/b c+d's", 0, 11))).toBe("hello world");
  expect(await joined(await client.get("a/b c+d's", 6, 5))).toBe("world");
  expect((await client.list("a/", "")).map(({ key, sizeBytes }) => [key, sizeBytes])).toEqual([["a/b c+d's", 11]]);
  expect(await client.list("a/", "a/b c+d's")).toEqual([]);
  await client.remove("a/b c+d's");
  await client.remove("a/b c+d's");
  expect(await client.head("a/b c+d's")).toBeUndefined();
});

test("an empty object is one", async () => {
  await client.put("empty", toBody(new Uint8Array()));
  expect(await client.head("empty")).toEqual({ sizeBytes: 0 });
  expect(await joined(await client.get("empty", 0, 0))).toBe("");
});

describe("an object of several parts", () => {
  test("is there as one", async () => {
    const first = new Uint8Array(5 * 1024 * 1024).fill(7);
    async function* parts() {
      yield toBody(first);
      yield toBody(text);
    }
    await client.putParts("large", parts());
    expect(await client.head("large")).toEqual({ sizeBytes: first.length + text.length });
    expect(await joined(await client.get("large", first.length, 11))).toBe("hello world");
    expect(s3.wrongBodies).toEqual([]);
  });

  test("is not there at all where one of them can't be read", async () => {
    async function* parts() {
      yield toBody(text);
      throw new Error("the disk");
    }
    expect(client.putParts("broken", parts())).rejects.toThrow("the disk");
    expect(await client.head("broken")).toBeUndefined();
  });
});

test("a body that is not what was signed is not kept as if it were", async () => {
  const wrong = { ...toBody(text), md5: "0".repeat(32) };
  expect(await problemOf(client.put("wrong", wrong))).toBe("damaged");
});

describe("what is wrong is told apart", () => {
  test.each([
    ["a key that nobody knows", { accessKeyId: "nobody" }, "refused"],
    ["a bucket that is not there", { bucket: "nowhere" }, "refused"],
    ["nobody at the address", { endpoint: "http://127.0.0.1:9" }, "unreachable"],
  ])("%s", async (_name, change, problem) => {
    expect(await problemOf(new S3Client({ ...options, ...change }).getSmall("x"))).toBe(problem);
  });

  test("a service that fails is asked again, and given up", async () => {
    s3.mood = "failing";
    const before = s3.requests.length;
    expect(await problemOf(client.getSmall("x"))).toBe("unreachable");
    expect(s3.requests.length - before).toBe(3);
  });

  test("one that says nothing is not waited for without end", async () => {
    s3.mood = "hanging";
    expect(await problemOf(client.getSmall("x"))).toBe("unreachable");
  });

  test("an object that is not there", async () => {
    expect(await client.getSmall("nothing")).toBeUndefined();
    expect(await problemOf(client.get("nothing", 0, 5))).toBe("absent");
  });
});
