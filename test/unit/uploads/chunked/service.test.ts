import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as fs from "node:fs";
import { join } from "node:path";
import { DiskBlobStore } from "../../../../src/blobs/disk-blob-store.ts";
import { Layout } from "../../../../src/blobs/layout.ts";
import { AppError } from "../../../../src/errors.ts";
import { Events } from "../../../../src/events/events.ts";
import { TransferCounters } from "../../../../src/features/accounts/plans/transfers.ts";
import { openUploads } from "../../../../src/features/uploads/chunked/open.ts";
import type { UploadService } from "../../../../src/features/uploads/chunked/service.ts";
import type { Upload, UploadEntry } from "../../../../src/features/uploads/chunked/types.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { DiskReservations } from "../../../../src/server/data/filesystem.ts";
import { TestTree } from "../../tree/support.ts";
import { say } from "../../../../src/translations/say.ts";

const HOUR_MS = 60 * 60 * 1000;
const CHUNK_BYTES = 1024;

let tree: TestTree;
let uploads: UploadService;
let room: DiskReservations;
let freeBytes: number;
let emitted: string[];
let marked: string[];
let isDeleted: boolean;
let close: () => Promise<void>;
let user: User;
const device = { id: 0, publicId: "phone", name: "Phone" };

/** Opens everything that uploads need on the tree's database; called again to simulate a restart. */
function start() {
  const { db, writer, clock } = tree;
  const directory = join(tree.directory, "uploads");
  fs.mkdirSync(directory, { recursive: true });
  const blobs = new DiskBlobStore({
    layout: new Layout(tree.directory),
    index: {
      find: (digest) => {
        const row = tree.read.findBlob(digest);
        return row && { sizeBytes: row.sizeBytes, isDamaged: false };
      },
    },
    log: silentLog,
    checkStore: () => {},
  });
  blobs.makeFolders();
  const events = new Events();
  events.on("upload.failed", (_tx, { name, reason }) => void emitted.push(`failed ${name}: ${reason}`));
  events.on("upload.completed", (_tx, { file }) => void emitted.push(`completed ${file.name}`));
  room = new DiskReservations(tree.directory, 0, { availableBytes: () => freeBytes, totalBytes: () => 1e9 });
  const transfers = new TransferCounters({ db, writer, clock, log: silentLog });
  const opened = openUploads({
    sqlite: db.sqlite,
    writer,
    clock,
    log: silentLog,
    events,
    tree: tree.read,
    treeWriter: tree.write,
    blobs,
    directory,
    transfers,
    thumbnails: { schedule: () => {} },
    limitsOf: () => ({ plan: "free", maxFileSizeBytes: null, quotaBytes: 1_000_000 }),
    contents: { isStored: () => false, wasDeleted: () => isDeleted, markWhole: (digest) => void marked.push(digest) },
    admitReplacement: () => new AppError("confirmation_required", say`Wait.`),
    reserveDisk: (bytes) => room.reserve(bytes),
    holdDisk: (bytes) => room.hold(bytes),
    noteReceiving: () => () => {},
    findUser: () => user,
    secret: Buffer.alloc(32, 1),
  });
  uploads = opened.uploads;
  close = async () => {
    opened.staging.close();
    blobs.close();
    // Closing would otherwise be followed by a delayed write to the closed database.
    await transfers.flush();
  };
}

async function begin(entry: Partial<UploadEntry> = {}, chunkSizeBytes = CHUNK_BYTES): Promise<Upload> {
  const options = { wifiOnly: false, chunkSizeBytes, maxRetries: 3, isAutomatic: false };
  const entries = [{ localId: "1", name: "a.bin", size: 3000, ...entry }];
  const session = await uploads.begin({ user, device }, entries, options, (requested) => ({
    taken: requested,
    rejection: undefined,
  }));
  const [file] = session.files;
  if (file === undefined || "error" in file) throw new Error("the upload was not planned");
  return file.upload;
}

async function send(upload: Upload, index: number): Promise<void> {
  const bytes = Buffer.alloc(index === 2 ? 952 : 1024, index + 1);
  await uploads.receive(upload, {
    scope: index,
    declaredBytes: undefined,
    digest: undefined,
    read: async (take) => take(bytes),
    confirm: permit,
  });
}

/** The reason of the error that a promise is rejected with. */
async function reasonOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error instanceof AppError ? error.reason : String(error);
  }
}

const nothing = { digest: undefined, exif: { location: undefined, capturedAt: undefined } };
const sweep = () => uploads.sweep(new AbortController().signal);
/** Confirms that the sender may still write. */
const permit = () => undefined;
const stateOf = (upload: Upload) => uploads.progress(uploads.get(user, upload.publicId));
const reservedBytes = () => tree.read.usage(user.id).reservedBytes;
const stagedFiles = () => fs.readdirSync(join(tree.directory, "uploads"));

beforeEach(() => {
  tree = new TestTree();
  emitted = [];
  marked = [];
  isDeleted = false;
  freeBytes = 1_000_000;
  const id = tree.addAccount();
  device.id = Number(
    tree.db.sqlite
      .query<undefined, [number]>(
        `INSERT INTO devices (user_id, public_id, name, platform, registered_at, last_active_at) VALUES (?1, 'phone', 'Phone', 'ios', 0, 0)`,
      )
      .run(id).lastInsertRowid,
  );
  user = {
    id,
    publicId: "usr",
    email: "",
    name: "",
    role: "user",
    plan: "free",
    quotaBytes: undefined,
    disabledAtMs: null,
    createdAtMs: 0,
  };
  start();
});

afterEach(async () => {
  await close();
  tree.close();
});

describe("an upload session", () => {
  test("expires 24 hours after its last chunk", async () => {
    const upload = await begin();
    tree.clock.advance(20 * HOUR_MS);
    await send(upload, 0);
    tree.clock.advance(20 * HOUR_MS);
    expect(await sweep()).toBe(0);
    await send(upload, 1);
    tree.clock.advance(24 * HOUR_MS - 1);
    expect(stateOf(upload).status).toBe("uploading");
    tree.clock.advance(1);
    // The state changes even before the sweep.
    expect(stateOf(upload).status).toBe("expired");
    expect(await reasonOf(send(upload, 2))).toBe("upload_expired");
    expect(await reasonOf(uploads.complete({ user, confirm: permit }, upload, nothing))).toBe("upload_expired");
    expect(reservedBytes()).toBe(3000);
  });

  test("the sweep releases the quota, disk space and bytes of expired ones, and reports each failure once", async () => {
    const begun = await begin();
    await send(begun, 0);
    await begin({ name: "never-begun.bin" });
    const failed = await begin({ name: "failed.bin" });
    await uploads.setStatus(failed, "failed");
    const cancelled = await begin({ name: "cancelled.bin" });
    await uploads.cancel(cancelled);
    expect([reservedBytes(), room.reservedBytes, stagedFiles()]).toEqual([9000, 9000 - 1024, [begun.publicId]]);
    tree.clock.advance(24 * HOUR_MS);
    expect(await sweep()).toBe(3);
    expect(await sweep()).toBe(0);
    expect([reservedBytes(), room.reservedBytes, stagedFiles()]).toEqual([0, 0, []]);
    expect(emitted.sort()).toEqual(["failed a.bin: expired", "failed failed.bin: reported by the device"]);
    expect(stateOf(begun)).toMatchObject({ status: "expired", completedChunks: [], bytesUploaded: 0 });
    expect(await reasonOf(send(begun, 1))).toBe("upload_expired");
  });

  test("a completed one can be read for a week after its expiry", async () => {
    const upload = await begin();
    for (const index of [0, 1, 2]) await send(upload, index);
    const file = await uploads.complete({ user, confirm: permit }, upload, nothing);
    tree.clock.advance(24 * HOUR_MS);
    await sweep();
    expect((await uploads.complete({ user, confirm: permit }, upload, nothing)).publicId).toBe(file.publicId);
    tree.clock.advance(7 * 24 * HOUR_MS);
    await sweep();
    expect(() => uploads.get(user, upload.publicId)).toThrow("not found");
    expect(tree.read.findFile(user.id, file.publicId)).toBeDefined();
    expect(emitted).toEqual(["completed a.bin"]);
  });

  test("reserves disk space until its bytes arrive, even across a restart", async () => {
    freeBytes = 10_000;
    const upload = await begin({ size: 6000 });
    expect(await reasonOf(begin({ size: 6000 }))).toBe("disk_full");
    expect([room.reservedBytes, reservedBytes()]).toEqual([6000, 6000]);
    await send(upload, 0);
    expect(room.reservedBytes).toBe(6000 - 1024);
    await close();
    start();
    await uploads.recover();
    expect(room.reservedBytes).toBe(6000 - 1024);
    expect(stateOf(upload).completedChunks).toEqual([0]);
    await uploads.cancel(upload);
    expect(room.reservedBytes).toBe(0);
  });

  test("requested again keeps its reservations and gets a new expiry; an expired one is replaced", async () => {
    const file = { checksum: `sha256:${"a".repeat(64)}` };
    const first = await begin(file);
    await send(first, 0);
    tree.clock.advance(20 * HOUR_MS);
    const again = await begin(file);
    expect([again.publicId, again.sessionId > first.sessionId]).toEqual([first.publicId, true]);
    expect([reservedBytes(), room.reservedBytes]).toEqual([3000, 3000 - 1024]);
    tree.clock.advance(20 * HOUR_MS);
    await send(first, 1);
    tree.clock.advance(23 * HOUR_MS);
    expect(stateOf(first)).toMatchObject({ status: "uploading", completedChunks: [0, 1] });
    tree.clock.advance(HOUR_MS);
    const next = await begin(file);
    expect(next.publicId).not.toBe(first.publicId);
    expect([stateOf(first).status, reservedBytes(), room.reservedBytes, stagedFiles()]).toEqual([
      "expired",
      3000,
      3000,
      [],
    ]);
    expect(await tree.read.recount(user.id)).toEqual([]);
  });

  test("stays reserved if the disk has no space for its replacement", async () => {
    const file = { checksum: `sha256:${"a".repeat(64)}`, size: 6000 };
    freeBytes = 10_000;
    const first = await begin(file);
    expect(await reasonOf(begin(file, 2048))).toBe("disk_full");
    expect([stateOf(first).status, reservedBytes(), room.reservedBytes]).toEqual(["pending", 6000, 6000]);
  });

  test("discards a replacement chunk that was rejected, or not recorded because of a crash", async () => {
    const upload = await begin();
    await send(upload, 0);
    const replacement = `${upload.publicId}.0.next`;
    // The upload expires while the replacement bytes arrive.
    const rejection = uploads.receive(upload, {
      scope: 0,
      declaredBytes: undefined,
      digest: undefined,
      confirm: permit,
      read: async (take) => {
        await take(Buffer.alloc(1024, 9));
        tree.clock.advance(24 * HOUR_MS);
      },
    });
    expect(await reasonOf(rejection)).toBe("upload_expired");
    expect(stagedFiles()).toEqual([upload.publicId]);
    tree.clock.advance(-24 * HOUR_MS);
    // First a crash between the bytes and their row, then one after the row.
    const path = join(tree.directory, "uploads", replacement);
    fs.writeFileSync(path, Buffer.alloc(1024, 9));
    await uploads.recover();
    expect(stagedFiles()).toEqual([upload.publicId]);
    fs.writeFileSync(path, Buffer.alloc(1024, 9));
    tree.db.sqlite.run("UPDATE upload_chunks SET is_replacing = 1 WHERE idx = 0");
    await uploads.recover();
    expect(stagedFiles().toSorted()).toEqual([upload.publicId, replacement].toSorted());
    await close();
    start();
    await uploads.recover();
    await send(upload, 1);
    expect(stagedFiles()).toEqual([upload.publicId]);
    expect(fs.readFileSync(join(tree.directory, "uploads", upload.publicId)).subarray(0, 1024)).toEqual(
      Buffer.alloc(1024, 9),
    );
  });

  test("of a removed device is canceled", async () => {
    const upload = await begin();
    await send(upload, 0);
    await tree.writer.run((tx) => uploads.cancelOfDevice(tx, device.id));
    expect(stateOf(upload).status).toBe("cancelled");
    expect([reservedBytes(), room.reservedBytes, stagedFiles(), emitted]).toEqual([0, 0, [], []]);
  });

  test("rejected because its file needs confirmation reserves nothing", async () => {
    const { publicId } = tree.addFile(user.id, "/", "old.bin");
    expect(await reasonOf(begin({ fileId: publicId }))).toBe("confirmation_required");
    expect([reservedBytes(), room.reservedBytes]).toEqual([0, 0]);
  });
});

describe("complete", () => {
  test("moves the reservation to the file, and a recount finds no drift", async () => {
    const upload = await begin();
    for (const index of [2, 0, 1]) await send(upload, index);
    await uploads.complete({ user, confirm: permit }, upload, nothing);
    expect(tree.read.usage(user.id)).toMatchObject({ reservedBytes: 0, fileBytes: 3000, usedBytes: 3000 });
    expect(room.reservedBytes).toBe(0);
    await begin();
    expect(await tree.read.recount(user.id)).toEqual([]);
    expect(await tree.read.recountBlobs()).toEqual([]);
  });

  test("during the replacement of a chunk uses the stored bytes, and rejects the replacement", async () => {
    const upload = await begin();
    for (const index of [0, 1, 2]) await send(upload, index);
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = reasonOf(
      uploads.receive(upload, {
        scope: 0,
        declaredBytes: undefined,
        digest: undefined,
        confirm: permit,
        read: async (take) => {
          await take(Buffer.alloc(512, 9));
          await promise;
          await take(Buffer.alloc(512, 9));
        },
      }),
    );
    while (!stagedFiles().some((name) => name.endsWith(".part"))) await new Promise(setImmediate);
    const file = await uploads.complete({ user, confirm: permit }, upload, nothing);
    resolve();
    expect(await late).toBe("upload_state");
    expect(file.sizeBytes).toBe(3000);
    expect(stagedFiles()).toEqual([]);
  });
});

describe("an automatic upload", () => {
  test("with content that the account has creates no file, and repairs a damaged blob", async () => {
    const made = async (entry: Partial<UploadEntry> = {}) => {
      const upload = await begin({ automatic: true, ...entry });
      for (const index of [0, 1, 2]) await send(upload, index);
      return uploads.complete({ user, confirm: permit }, upload, nothing);
    };
    const { publicId, digest } = await made();
    expect((await made({ name: "b.bin" })).publicId).toBe(publicId);
    expect(marked).toEqual([]);
    fs.rmSync(new Layout(tree.directory).blob(digest));
    expect((await made({ name: "c.bin" })).publicId).toBe(publicId);
    expect(marked).toEqual([digest]);
    expect(fs.existsSync(new Layout(tree.directory).blob(digest))).toBe(true);
    expect(tree.read.usage(user.id)).toMatchObject({ reservedBytes: 0, fileBytes: 3000 });
    expect(emitted).toEqual(["completed a.bin", "completed a.bin", "completed a.bin"]);
  });

  test("is rejected if its user deleted that content before, and stays unchanged", async () => {
    const upload = await begin({ automatic: true });
    for (const index of [0, 1, 2]) await send(upload, index);
    isDeleted = true;
    expect(await reasonOf(uploads.complete({ user, confirm: permit }, upload, nothing))).toBe("deleted_by_you");
    expect([stateOf(upload).status, reservedBytes(), emitted]).toEqual(["uploading", 3000, []]);
  });
});

test("a signature stops working once the device is signed out or the account disabled", async () => {
  const { sqlite } = tree.db;
  const upload = await begin();
  const signature = uploads.sign(upload, 0);
  expect(uploads.findSigned(upload.publicId, 0, signature)).toBeUndefined();
  sqlite.run(
    `INSERT INTO refresh_tokens (device_id, token_hash, session_id, created_at, expires_at) VALUES (?, x'00', 's', 0, ?)`,
    [device.id, tree.clock.nowMs() + HOUR_MS],
  );
  expect(uploads.findSigned(upload.publicId, 0, signature)?.upload.id).toBe(upload.id);
  user = { ...user, disabledAtMs: 1 };
  expect(uploads.findSigned(upload.publicId, 0, signature)).toBeUndefined();
  user = { ...user, disabledAtMs: null, role: "viewer" };
  expect(() => uploads.openSigned(upload.publicId, 0, signature)).toThrow(expect.objectContaining({ reason: "role" }));
  user = { ...user, role: "user" };
  tree.clock.advance(HOUR_MS);
  expect(uploads.findSigned(upload.publicId, 0, signature)).toBeUndefined();
});
