import { describe, expect, test } from "bun:test";
import { delayBefore } from "../../../src/client/features/uploads/engine/backoff.ts";
import type { EngineDependencies } from "../../../src/client/features/uploads/engine/dependencies.ts";
import { UploadEngine } from "../../../src/client/features/uploads/engine/engine.ts";
import {
  CHUNK_SIZES,
  type Failure,
  classifyFailure,
  smallerChunk,
  TransferError,
} from "../../../src/client/features/uploads/engine/failures.ts";
import type { SavedUpload, UploadDatabase } from "../../../src/client/features/uploads/engine/upload-db.ts";
import { UploadPersistence } from "../../../src/client/features/uploads/engine/persistence.ts";
import { metadataOf, newUpload } from "../../../src/client/features/uploads/engine/new-upload.ts";
import { secondsLeft, Speedometer } from "../../../src/client/features/uploads/engine/speed.ts";
import type { SendRequest, SendResult } from "../../../src/client/features/uploads/engine/transfer.ts";
import { trayOrder } from "../../../src/client/features/uploads/tray/order.ts";
import type { Upload, UploadState } from "../../../src/client/features/uploads/engine/types.ts";

// Text reads the language from the document.
Object.defineProperty(globalThis, "document", { value: { documentElement: { lang: "en" } }, configurable: true });

const envelope = (reason: string, message = "words", details: object = {}) =>
  JSON.stringify({ success: false, error: { code: "X", message, details: { reason, ...details } } });

function judged(status: number, body: string, hasUrl = true, retryAfter?: string): Failure {
  return classifyFailure({ status, body, retryAfter, hasUrl });
}

describe("classifying a failed upload request", () => {
  test("no response is a network failure", () => {
    expect(judged(0, "")).toEqual({ kind: "network" });
  });

  test("a proxy's error page is not taken for a response of Larder", () => {
    expect(judged(413, "<html>too large</html>")).toEqual({ kind: "bodyTooLarge" });
    expect(judged(524, "<html>A timeout occurred</html>").kind).toBe("proxyTimeout");
    expect(judged(502, "<html>Bad gateway</html>", true, "7")).toMatchObject({ kind: "busy", retryAfterSeconds: 7 });
    expect(judged(403, "<html>Forbidden by the firewall</html>").kind).toBe("rejected");
  });

  test("limits of the server are shown with their values", () => {
    const quota = judged(
      413,
      envelope("quota_exceeded", "bytes", { limit: 10_485_760, used: 9_437_184, required: 2_097_152 }),
    );
    expect(quota).toMatchObject({ kind: "rejected" });
    expect("message" in quota ? quota.message : "").toContain("needs 2 MB, but only 1 MB of 10 MB is left");
    // A number of files and folders is not a number of bytes.
    const nodes = { limit: 200_000, of: "nodes", used: 200_000, required: 1 };
    expect(judged(413, envelope("quota_exceeded", "200000 files at most", nodes))).toEqual({
      kind: "rejected",
      message: "200000 files at most",
    });
    expect(judged(413, envelope("disk_full", "The disk is full."))).toEqual({
      kind: "rejected",
      message: "The disk is full.",
    });
  });

  test("temporary failures wait, and an upload that the server no longer has starts over", () => {
    expect(judged(503, envelope("shutting_down"), true, "5")).toMatchObject({ kind: "busy", retryAfterSeconds: 5 });
    const waiting = JSON.stringify({ error: { message: "Wait.", details: { reason: "overloaded", retryAfter: 9 } } });
    expect(judged(503, waiting, true)).toMatchObject({ kind: "busy", retryAfterSeconds: 9 });
    expect(judged(429, envelope("rate_limited"), false, "30")).toMatchObject({ kind: "busy", retryAfterSeconds: 30 });
    expect(judged(500, envelope("unexpected")).kind).toBe("unexpected");
    expect(judged(401, envelope("expired_token"))).toEqual({ kind: "signedOut" });
    expect(judged(401, "")).toEqual({ kind: "signedOut" });
    expect(judged(410, "")).toEqual({ kind: "expired" });
    expect(judged(404, envelope("not_found"), true)).toEqual({ kind: "expired" });
    expect(judged(404, envelope("not_found"), false).kind).toBe("rejected");
    expect(judged(409, "")).toEqual({ kind: "offsetMismatch" });
    expect(judged(409, envelope("name_taken"), false)).toEqual({ kind: "nameTaken" });
  });

  test("request sizes shrink in three steps", () => {
    expect(smallerChunk(CHUNK_SIZES[0])).toBe(CHUNK_SIZES[1]);
    expect(smallerChunk(CHUNK_SIZES[2])).toBeUndefined();
  });
});

test("waits grow to 15 seconds, and respect the server's wait up to two minutes", () => {
  const delays = Array.from({ length: 9 }, (_, attempt) => delayBefore(attempt, undefined, 0));
  expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000]);
  expect(delayBefore(0, 20, 0)).toBe(20_000);
  expect(delayBefore(0, 3600, 0)).toBe(120_000);
  expect(delayBefore(0, undefined, 1)).toBe(625);
});

test("the speed is measured over the last seconds, and falls while nothing is sent", () => {
  const meter = new Speedometer();
  expect(meter.speed(0)).toBeUndefined();
  for (let ms = 0; ms <= 4000; ms += 200) meter.add(200, ms);
  expect(meter.speed(4000)).toBe(1050);
  expect(meter.speed(8000)).toBeLessThan(600);
  for (let ms = 20_000; ms <= 30_000; ms += 200) meter.add(2000, ms);
  expect(meter.speed(30_000)).toBe(10_000);
  expect(secondsLeft(20_000, 10_000)).toBe(2);
  expect(secondsLeft(20_000, undefined)).toBeUndefined();
});

test("the metadata has name, folder, relative path, type, time and the choice for a taken name", () => {
  const file = new File(["x"], "ü.txt", { type: "text/plain", lastModified: 1234 });
  expect(metadataOf(newUpload({ file, path: "a/b/ü.txt" }, "/home", undefined, "batch"))).toEqual({
    filename: "ü.txt",
    folder: "/home",
    relativePath: "a/b/ü.txt",
    filetype: expect.stringMatching(/^text\/plain/),
    lastModified: "1234",
    onConflict: "error",
  });
});

describe("the order of the tray", () => {
  const upload = (id: string, state: UploadState): Upload => ({
    ...newUpload(source(id), "/", undefined, "batch"),
    id,
    state,
  });
  const idsOf = (uploads: readonly Upload[], frozen?: readonly string[]) =>
    trayOrder(uploads, frozen).map(({ id }) => id);

  test("uploads in progress and failed ones are first, then queued ones, finished ones last", () => {
    const uploads = [
      upload("a", "done"),
      upload("b", "waiting"),
      upload("c", "failed"),
      upload("d", "skipped"),
      upload("e", "sending"),
      upload("f", "conflict"),
      upload("g", "waiting"),
      upload("h", "paused"),
    ];
    expect(idsOf(uploads)).toEqual(["c", "e", "f", "h", "b", "g", "a", "d"]);
  });

  test("a frozen order lasts when states change, without removed uploads and with new ones at the end", () => {
    const uploads = [upload("a", "done"), upload("b", "sending"), upload("d", "waiting"), upload("e", "sending")];
    expect(idsOf(uploads, ["a", "b", "c"])).toEqual(["a", "b", "e", "d"]);
  });
});

/** An engine whose requests the test responds to, in the order in which they start. */
function scene(respond: (request: SendRequest, attempt: number) => Promise<SendResult>) {
  const saved = new Map<string, SavedUpload>();
  const bytes = new Map<string, Blob>();
  const database: UploadDatabase = {
    put: async (many) => many.forEach((one) => saved.set(one.upload.id, one)),
    putBytes: async (id, file) => void bytes.set(id, new Blob([await file.arrayBuffer()])),
    findBytes: async (id) => bytes.get(id),
    remove: async (ids) => ids.forEach((id) => saved.delete(id) && bytes.delete(id)),
    all: async () => [...saved.values()],
  };
  const tab = { id: "this tab", whenClosed: async () => undefined, onOtherTab: () => undefined };
  const settled: [number, number][] = [];
  const terminated: string[] = [];
  let attempts = 0;
  const make = () => {
    const deps: EngineDependencies = {
      endpoint: () => "https://larder.example/api/tus",
      send: (request) => respond(request, attempts++),
      terminate: async (url) => void terminated.push(url),
      persistence: new UploadPersistence(database, Promise.resolve(tab)),
      whenSignedIn: async () => undefined,
      onStored: () => undefined,
      onSettled: (stored, troubled) => void settled.push([stored, troubled]),
    };
    return new UploadEngine(deps);
  };
  return { make, engine: make(), saved, bytes, settled, terminated };
}

const source = (name: string, content = "content") => ({
  file: new File([content], name, { lastModified: 1 }),
  path: name,
});
const states = (engine: UploadEngine): UploadState[] => engine.store.all().map(({ state }) => state);
const failing = (failure: Failure) => Promise.reject(new TransferError(failure));

/** A file that may be read again if `isAllowed` says so. */
const handleOf = (file: File, isAllowed: () => Promise<PermissionState>): FileSystemFileHandle => ({
  kind: "file",
  name: file.name,
  getFile: async () => file,
  isSameEntry: async () => true,
  createWritable: () => Promise.reject(new Error("nothing is written")),
  requestPermission: isAllowed,
});

/** Waits until all uploads are in the expected state, by the store's notifications. */
async function until(engine: UploadEngine, isReached: (uploads: readonly Upload[]) => boolean): Promise<void> {
  if (isReached(engine.store.all())) return;
  await new Promise<void>((resolve) => {
    const stop = engine.store.subscribe(() => {
      if (!isReached(engine.store.all())) return;
      stop();
      resolve();
    });
  });
}

/** Uploads are saved in the background: waits for it. */
async function written(isWritten: () => boolean): Promise<void> {
  while (!isWritten()) await Bun.sleep(1);
}

const allDone = (uploads: readonly Upload[]) => uploads.every(({ state }) => state === "done" || state === "skipped");

describe("the queue", () => {
  test("sends three in parallel, all of them in the end, and then deletes their saved state", async () => {
    let running = 0;
    let most = 0;
    const { engine, saved, settled } = scene(async ({ file, onProgress }) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      onProgress(file.size);
      running -= 1;
      return { fileId: `id of ${file.name}` };
    });
    await engine.start("anna");
    engine.add(
      Array.from({ length: 20 }, (_, index) => source(`${index}`)),
      { folder: "/" },
    );
    await until(engine, allDone);
    expect(most).toBe(3);
    expect(engine.store.all().map(({ fileId }) => fileId)).toEqual(
      Array.from({ length: 20 }, (_, index) => `id of ${index}`),
    );
    expect(settled.reduce((sum, [stored]) => sum + stored, 0)).toBe(20);
    await written(() => saved.size === 0);
  });

  test("continues after network failures, the sign-in, a proxy's limit and an expired upload, at the same URL", async () => {
    const failures: Failure[] = [
      { kind: "network" },
      { kind: "signedOut" },
      { kind: "bodyTooLarge" },
      { kind: "expired" },
      { kind: "busy", message: "words", retryAfterSeconds: undefined },
    ];
    const urls: (string | undefined)[] = [];
    const chunks: number[] = [];
    const { engine } = scene(async (request, attempt) => {
      urls.push(request.url);
      chunks.push(request.chunkSize);
      request.onUrl(`https://larder.example/api/tus/${attempt}`);
      const failure = failures[attempt];
      return failure === undefined ? { fileId: "file" } : failing(failure);
    });
    await engine.start("anna");
    engine.add([source("a")], { folder: "/" });
    const waking = engine.store.subscribe(() => engine.wake());
    await until(engine, allDone);
    waking();
    expect(urls.map((url) => url?.split("/").at(-1))).toEqual([undefined, "0", "1", "2", undefined, "4"]);
    expect(chunks[0]).toBe(CHUNK_SIZES[0]);
    expect(chunks[3]).toBe(CHUNK_SIZES[1]);
  });

  test("asks about a name conflict, and a choice for all applies to the whole batch", async () => {
    const requested: string[] = [];
    const { engine } = scene(async ({ metadata }) => {
      requested.push(`${metadata["filename"]} ${metadata["onConflict"]}`);
      return metadata["onConflict"] === "error" ? failing({ kind: "nameTaken" }) : { fileId: "file" };
    });
    await engine.start("anna");
    engine.add([source("a"), source("b"), source("c"), source("d")], { folder: "/" });
    await until(engine, (uploads) => uploads.every(({ state }) => state === "conflict"));
    const [first, second] = engine.store.all();
    expect(first?.problem).toBe("This name is already taken. Choose what to do.");
    engine.resolveConflict(first?.id ?? "", "skip", false);
    expect(states(engine)).toEqual(["skipped", "conflict", "conflict", "conflict"]);
    engine.resolveConflict(second?.id ?? "", "version", true);
    await until(engine, allDone);
    expect(states(engine)).toEqual(["skipped", "done", "done", "done"]);
    expect(requested).not.toContain("a version");
    expect(requested).toContain("d version");
  });

  test("an upload that was rejected for its name is deleted on the server, because it would take up space", async () => {
    const urls: (string | undefined)[] = [];
    const { engine, terminated } = scene(async ({ url, onUrl }, attempt) => {
      urls.push(url);
      onUrl(`https://larder.example/api/tus/${attempt}`);
      return attempt === 0 ? failing({ kind: "nameTaken" }) : { fileId: "file" };
    });
    await engine.start("anna");
    engine.add([source("a")], { folder: "/" });
    await until(engine, ([upload]) => upload?.state === "conflict");
    expect(terminated).toEqual(["https://larder.example/api/tus/0"]);
    engine.resolveConflict(engine.store.all()[0]?.id ?? "", "rename", false);
    await until(engine, allDone);
    expect(urls).toEqual([undefined, undefined]);
  });

  test("gives up an upload that expires again and again", async () => {
    let sends = 0;
    const { engine } = scene(async ({ onUrl, onProgress }, attempt) => {
      sends += 1;
      onUrl(`https://larder.example/api/tus/${attempt}`);
      onProgress(1);
      onProgress(2);
      return failing({ kind: "expired" });
    });
    await engine.start("anna");
    engine.add([source("a")], { folder: "/" });
    const waking = engine.store.subscribe(() => engine.wake());
    await until(engine, ([upload]) => upload?.state === "failed");
    waking();
    expect(sends).toBe(5);
  });

  test("sends and saves files that were added before the account is known", async () => {
    const response = Promise.withResolvers<SendResult>();
    const { engine, saved } = scene(() => response.promise);
    engine.add([source("early")], { folder: "/" });
    await engine.start("anna");
    expect(states(engine)).toEqual(["sending"]);
    await written(() => saved.size === 1);
    response.resolve({ fileId: "file" });
    await until(engine, allDone);
    await written(() => saved.size === 0);
  });

  test("a rejected upload stays until it is retried or cancelled, and cancelling deletes it on the server", async () => {
    const { engine, terminated, saved } = scene(async ({ onUrl }, attempt) => {
      onUrl(`https://larder.example/api/tus/${attempt}`);
      return failing({ kind: "rejected", message: "No room." });
    });
    await engine.start("anna");
    engine.add([source("a")], { folder: "/" });
    await until(engine, ([upload]) => upload?.state === "failed");
    const [upload] = engine.store.all();
    expect(upload?.problem).toBe("No room.");
    engine.resume(upload?.id ?? "");
    expect(states(engine)).toEqual(["sending"]);
    await until(engine, ([again]) => again?.state === "failed");
    engine.cancel(upload?.id ?? "");
    expect(states(engine)).toEqual([]);
    expect(terminated).toHaveLength(1);
    await written(() => saved.size === 0);
  });

  test("a file with a handle is sent once, however often access is requested, and not after cancelling", async () => {
    const names: string[] = [];
    const { engine, saved } = scene(async ({ file }, attempt) => {
      names.push(file.name);
      return attempt < 2 ? failing({ kind: "unreadable" }) : { fileId: "file" };
    });
    const grants: ((state: PermissionState) => void)[] = [];
    const ask = () => new Promise<PermissionState>((resolve) => void grants.push(resolve));
    await engine.start("anna");
    const given = ["a", "b"].map((name) => ({ ...source(name), handle: handleOf(source(name).file, ask) }));
    engine.add(given, { folder: "/" });
    await until(engine, (uploads) => uploads.every(({ state }) => state === "missing"));
    const [first, second] = [engine.requestAccess(), engine.requestAccess()];
    grants.shift()?.("granted");
    await until(engine, ([a]) => a?.state === "done");
    grants.shift()?.("granted");
    await written(() => grants.length > 0);
    engine.cancel(engine.store.all()[1]?.id ?? "");
    while (grants.length > 0) {
      grants.shift()?.("granted");
      await Bun.sleep(1);
    }
    await Promise.all([first, second]);
    await written(() => saved.size === 0);
    expect(names).toEqual(["a", "b", "a"]);
    expect(states(engine)).toEqual(["done"]);
  });

  test("a later page resumes: with saved bytes, or with the same file only; for its own account", async () => {
    const { engine, make, saved, bytes } = scene(({ signal, onUrl }) => {
      onUrl("https://larder.example/api/tus/first");
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("left"))));
    });
    await engine.start("anna");
    const large = "x".repeat(5 * 1024 * 1024);
    engine.add([source("small"), source("large", large)], { folder: "/there" });
    await until(engine, (uploads) => uploads.every(({ url }) => url !== undefined));
    await written(() => bytes.size === 1 && [...saved.values()].every(({ upload }) => upload.url !== undefined));
    engine.stop();

    const other = make();
    await other.start("bert");
    expect(states(other)).toEqual([]);

    const later = make();
    await later.start("anna");
    expect(later.store.all().map(({ name, state }) => `${name} ${state}`)).toEqual(["small sending", "large missing"]);
    expect(later.provide([new File([large], "large", { lastModified: 2 })])).toBe(0);
    expect(later.provide([new File([large], "large", { lastModified: 1 })])).toBe(1);
    expect(later.store.all().map(({ url, folder }) => `${url} ${folder}`)).toEqual([
      "https://larder.example/api/tus/first /there",
      "https://larder.example/api/tus/first /there",
    ]);
    later.stop();
  });
});
