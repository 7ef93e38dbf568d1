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
/** The blobs of the remote store, its read requests, and its notifications. */
const remoteBlobs = new Map<Digest, Uint8Array>();
const named = new Map<Digest, number>();
let reads: number;
let verified: Digest[];
let mismatches: Digest[];
let stored: [Digest, boolean][];

const remote: RemoteStore = {
  find: (digest) => {
    const bytes = remoteBlobs.get(digest);
    return bytes && { sizeBytes: bytes.length };
  },
  isThere: async (digest) => remoteBlobs.has(digest),
  async read(digest, offset, lengthBytes) {
    reads++;
    const bytes = remoteBlobs.get(digest) ?? new Uint8Array();
    return buffers(bytes.subarray(offset, offset + lengthBytes));
  },
  noteUse: () => {},
  noteMismatch: (digest) => mismatches.push(digest),
  noteStored: (digest, isNew) => stored.push([digest, isNew]),
  noteVerified: (digest) => verified.push(digest),
};

async function* buffers(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += BUFFER_BYTES) {
    await new Promise(setImmediate);
    yield bytes.subarray(at, at + BUFFER_BYTES);
  }
}

function putRemote(content: Uint8Array, claimed = toDigest(digestOf(content))): Digest {
  remoteBlobs.set(claimed, content);
  named.set(claimed, content.length);
  return claimed;
}

beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), "larder-remote-"));
  [reads, verified, mismatches, stored] = [0, [], [], []];
  remoteBlobs.clear();
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
    remote,
    disk,
  });
  store.makeFolders();
});
afterEach(() => {
  store.close();
  fs.rmSync(root, { recursive: true, force: true });
});

/** Lists the files in `incoming/`. */
function listIncoming(): string[] {
  return fs.readdirSync(join(root, "blobs/incoming"));
}

async function joined(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const buffer of stream) all.push(buffer);
  return Buffer.concat(all);
}

describe("fetching a blob", () => {
  test("stores it whole on this disk, by one transfer for all callers", async () => {
    const content = randomContent(500_000);
    const digest = putRemote(content);
    await Promise.all([store.fetchLocal(digest), store.fetchLocal(digest), store.prepareRead(digest)]);
    expect(reads).toBe(1);
    expect(store.fetchLocal(digest)).toBeUndefined();
    expect(store.readRange(digest, 1_000, 10)).toEqual(Buffer.from(content.subarray(1_000, 1_010)));
    expect(verified).toEqual([digest]);
    expect(listIncoming()).toEqual([]);
  });

  test("stores nothing that does not match its digest", async () => {
    const digest = putRemote(randomContent(300_000), toDigest(digestOf("something else")));
    expect(store.fetchLocal(digest) ?? Promise.resolve()).rejects.toMatchObject({ reason: "content_damaged" });
    await store.fetchLocal(digest)?.catch(() => {});
    expect(store.statLocal(digest)).toBeUndefined();
    expect(listIncoming()).toEqual([]);
  });

  test("rejects a blob that no row names", async () => {
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

  test("a blob is streamed without being stored", async () => {
    const content = randomContent(700_000);
    const digest = putRemote(content);
    expect(await store.prepareRead(digest)).toBe("remote");
    expect(await joined(await store.open(digest, 0, content.length))).toEqual(Buffer.from(content));
    expect(store.statLocal(digest)).toBeUndefined();
  });
});

describe("streaming a blob", () => {
  test("stores it when it was read completely", async () => {
    const content = randomContent(700_000);
    const digest = putRemote(content);
    expect(await joined(await store.open(digest, 0, content.length))).toEqual(Buffer.from(content));
    expect(store.statLocal(digest)).toEqual({ sizeBytes: content.length });
  });

  test("stores nothing of a range or a canceled read", async () => {
    const content = randomContent(700_000);
    const digest = putRemote(content);
    expect(await joined(await store.open(digest, 100_000, 200_000))).toEqual(
      Buffer.from(content.subarray(100_000, 300_000)),
    );
    const reader = lazyBlobStream(store, digest)(0, content.length).getReader();
    await reader.read();
    await reader.cancel();
    expect(store.statLocal(digest)).toBeUndefined();
  });

  test("fails before the last buffer if the blob is damaged", async () => {
    const content = randomContent(300_000);
    const digest = putRemote(content, toDigest(digestOf("something else")));
    let got = 0;
    const read = (async () => {
      for await (const buffer of await store.open(digest, 0, content.length)) got += buffer.length;
    })();
    expect(read).rejects.toMatchObject({ reason: "content_damaged" });
    await read.catch(() => {});
    expect(got).toBeLessThan(content.length);
  });
});

test("hashing reads a remote blob and stores nothing", async () => {
  const digest = putRemote(randomContent(300_000));
  expect(await store.hash(digest)).toBe(digest);
  expect(store.statLocal(digest)).toBeUndefined();
  expect(store.stat(digest)).toEqual({ sizeBytes: 300_000 });
});

test("a copy is not dropped while an upload has a lease on it", async () => {
  const content = randomContent(1_000);
  const digest = putRemote(content);
  const writer = store.begin({ limitBytes: 1_000, tooLarge: () => new Error("too large") });
  await writer.write(content);
  const lease = await writer.commit();
  store.dropCopy(digest);
  expect(store.statLocal(digest)).toEqual({ sizeBytes: 1_000 });
  lease.release(true);
  store.dropCopy(digest);
  expect(store.statLocal(digest)).toBeUndefined();
});

test("the remote store is notified of each blob that got its row, and of no other", async () => {
  const upload = async (content: Uint8Array, isNamed: boolean) => {
    const writer = store.begin({ limitBytes: 1_000, tooLarge: () => new Error("too large") });
    await writer.write(content);
    (await writer.commit()).release(isNamed);
  };
  const [content, rejected] = [randomContent(1_000), randomContent(1_000)];
  const digest = toDigest(digestOf(content));
  await upload(rejected, false);
  await upload(content, true);
  named.set(digest, content.length);
  await upload(content, true);
  expect(stored).toEqual([
    [digest, true],
    [digest, false],
  ]);
});
