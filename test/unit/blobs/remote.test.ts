import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Digest, toDigest } from "../../../src/blobs/digest.ts";
import { type Disk, realDisk } from "../../../src/blobs/disk.ts";
import { DiskBlobStore } from "../../../src/blobs/disk-blob-store.ts";
import { Layout } from "../../../src/blobs/layout.ts";
import { type RemoteStore, lazyBlobStream } from "../../../src/blobs/remote.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { digestOf, randomContent } from "../../support/client.ts";

const BUFFER_BYTES = 64 * 1024;

let root: string;
let store: DiskBlobStore;
let disk: Disk;
/** What lies in the other place, what is asked of it, and what it heard. */
const there = new Map<Digest, Uint8Array>();
const named = new Map<Digest, number>();
let reads: number;
let whole: Digest[];
let doubts: Digest[];
let stored: [Digest, boolean][];

const place: RemoteStore = {
  find: (digest) => {
    const bytes = there.get(digest);
    return bytes && { sizeBytes: bytes.length };
  },
  isThere: async (digest) => there.has(digest),
  async read(digest, offset, lengthBytes) {
    reads++;
    const bytes = there.get(digest) ?? new Uint8Array();
    return pieces(bytes.subarray(offset, offset + lengthBytes));
  },
  noteUse: () => {},
  noteMismatch: (digest) => doubts.push(digest),
  noteStored: (digest, isNew) => stored.push([digest, isNew]),
  noteVerified: (digest) => whole.push(digest),
};

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += BUFFER_BYTES) {
    await new Promise(setImmediate);
    yield bytes.subarray(at, at + BUFFER_BYTES);
  }
}

function putThere(content: Uint8Array, claimed = toDigest(digestOf(content))): Digest {
  there.set(claimed, content);
  named.set(claimed, content.length);
  return claimed;
}

beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), "larder-remote-"));
  [reads, whole, doubts, stored] = [0, [], [], []];
  there.clear();
  named.clear();
  disk = { ...realDisk };
  store = new DiskBlobStore({
    layout: new Layout(root),
    index: {
      find: (digest) => {
        const sizeBytes = named.get(digest);
        return sizeBytes === undefined ? undefined : { sizeBytes, isDamaged: false };
      },
    },
    log: silentLog,
    checkStore: () => {},
    remote: place,
    disk,
  });
  store.makeFolders();
});
afterEach(() => {
  store.close();
  fs.rmSync(root, { recursive: true, force: true });
});

/** Files in `incoming/`. */
function leftovers(): string[] {
  return fs.readdirSync(join(root, "blobs/incoming"));
}

async function joined(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of stream) all.push(piece);
  return Buffer.concat(all);
}

describe("bringing a content", () => {
  test("puts it on this disk, whole, by one transfer for all who ask", async () => {
    const content = randomContent(500_000);
    const digest = putThere(content);
    await Promise.all([store.fetchLocal(digest), store.fetchLocal(digest), store.prepareRead(digest)]);
    expect(reads).toBe(1);
    expect(store.fetchLocal(digest)).toBeUndefined();
    expect(store.readRange(digest, 1_000, 10)).toEqual(Buffer.from(content.subarray(1_000, 1_010)));
    expect(whole).toEqual([digest]);
    expect(leftovers()).toEqual([]);
  });

  test("keeps nothing that is not what its digest says", async () => {
    const digest = putThere(randomContent(300_000), toDigest(digestOf("something else")));
    expect(store.fetchLocal(digest) ?? Promise.resolve()).rejects.toMatchObject({ reason: "content_damaged" });
    await store.fetchLocal(digest)?.catch(() => {});
    expect(store.statLocal(digest)).toBeUndefined();
    expect(leftovers()).toEqual([]);
  });

  test("refuses what no row names", async () => {
    const digest = toDigest(digestOf("unknown"));
    expect(store.fetchLocal(digest) ?? Promise.resolve()).rejects.toMatchObject({ reason: "content_missing" });
    expect(reads).toBe(0);
  });
});

describe("on a full disk", () => {
  beforeEach(() => {
    disk.write = () => {
      throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    };
  });

  test("a content is passed on without being kept", async () => {
    const content = randomContent(700_000);
    const digest = putThere(content);
    expect(await store.prepareRead(digest)).toBe("away");
    expect(await joined(await store.open(digest, 0, content.length))).toEqual(Buffer.from(content));
    expect(store.statLocal(digest)).toBeUndefined();
  });
});

describe("passing a content on", () => {
  test("keeps it when all of it was taken", async () => {
    const content = randomContent(700_000);
    const digest = putThere(content);
    expect(await joined(await store.open(digest, 0, content.length))).toEqual(Buffer.from(content));
    expect(store.statLocal(digest)).toEqual({ sizeBytes: content.length });
  });

  test("keeps nothing of a part, nor of what was left in the middle", async () => {
    const content = randomContent(700_000);
    const digest = putThere(content);
    expect(await joined(await store.open(digest, 100_000, 200_000))).toEqual(
      Buffer.from(content.subarray(100_000, 300_000)),
    );
    const reader = lazyBlobStream(store, digest)(0, content.length).getReader();
    await reader.read();
    await reader.cancel();
    expect(store.statLocal(digest)).toBeUndefined();
  });

  test("ends in an error before the last piece where it is damaged", async () => {
    const content = randomContent(300_000);
    const digest = putThere(content, toDigest(digestOf("something else")));
    let got = 0;
    const read = (async () => {
      for await (const piece of await store.open(digest, 0, content.length)) got += piece.length;
    })();
    expect(read).rejects.toMatchObject({ reason: "content_damaged" });
    await read.catch(() => {});
    expect(got).toBeLessThan(content.length);
  });
});

test("hashing reads it where it lies, and brings nothing", async () => {
  const digest = putThere(randomContent(300_000));
  expect(await store.hash(digest)).toBe(digest);
  expect(store.statLocal(digest)).toBeUndefined();
  expect(store.stat(digest)).toEqual({ sizeBytes: 300_000 });
});

test("a copy is not dropped while an upload holds it", async () => {
  const content = randomContent(1_000);
  const digest = putThere(content);
  const incoming = store.begin({ limitBytes: 1_000, tooLarge: () => new Error("too large") });
  await incoming.write(content);
  const held = await incoming.commit();
  store.dropCopy(digest);
  expect(store.statLocal(digest)).toEqual({ sizeBytes: 1_000 });
  held.release(true);
  store.dropCopy(digest);
  expect(store.statLocal(digest)).toBeUndefined();
});

test("the other place hears of each content that got its row, and of none that did not", async () => {
  const upload = async (content: Uint8Array, isNamed: boolean) => {
    const incoming = store.begin({ limitBytes: 1_000, tooLarge: () => new Error("too large") });
    await incoming.write(content);
    (await incoming.commit()).release(isNamed);
  };
  const [content, refused] = [randomContent(1_000), randomContent(1_000)];
  const digest = toDigest(digestOf(content));
  await upload(refused, false);
  await upload(content, true);
  named.set(digest, content.length);
  await upload(content, true);
  expect(stored).toEqual([
    [digest, true],
    [digest, false],
  ]);
});
