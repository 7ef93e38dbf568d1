import type { BlobStore } from "../../../../src/blobs/blob-store.ts";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Digest, toDigest } from "../../../../src/blobs/digest.ts";
import { Bench, fakeChild, findChildren, until } from "./support.ts";

test("hostile and damaged files fail once, and are not tried again", async () => {
  await using bench = new Bench();
  const cases = [
    ["bomb.png", "image/png"],
    ["truncated.jpg", "image/jpeg"],
    ["broken.png", "image/png"],
    ["text-as.jpg", "image/jpeg"],
  ] as const;
  for (const [fixture, mediaType] of cases) {
    const digest = bench.add(fixture);
    const first = await bench.service.get(digest, mediaType, "medium", 30_000);
    expect(first.state).toBe("none");
    expect(bench.recorded.filter((failure) => failure.digest === digest)).toHaveLength(1);
    rmSync(bench.pathOf(digest)); // a second attempt would fail for another reason
    expect(await bench.service.get(digest, mediaType, "small")).toEqual(first);
    expect(bench.recorded.filter((failure) => failure.digest === digest)).toHaveLength(1);
  }
  const picture = await bench.service.get(bench.add("plain.png"), "image/png", "medium", 30_000);
  expect(picture.state).toBe("ready");
});

test("a failure of another version is tried again", async () => {
  await using bench = new Bench();
  const digest = bench.add("plain.png");
  bench.recorded.push({ digest, reason: "it was too new", program: "larder 0.0.1" });
  expect((await bench.service.get(digest, "image/png", "medium", 30_000)).state).toBe("ready");
});

test("a missing file is not stored as a failure", async () => {
  await using bench = new Bench();
  const digest = bench.add("plain.png");
  rmSync(bench.pathOf(digest));
  expect((await bench.service.get(digest, "image/png", "medium", 30_000)).state).toBe("none");
  expect(bench.recorded).toEqual([]);
});

test("a blob that is stored elsewhere is fetched before it is rendered", async () => {
  // The option was called differently from the method of the blob store, so that it was never called.
  const fetched: Digest[] = [];
  const fetchLocal: BlobStore["fetchLocal"] = async (digest) => void fetched.push(digest);
  await using bench: Bench = new Bench({ blobs: { pathOf: (digest) => bench.pathOf(digest), fetchLocal } });
  const digest = bench.add("plain.png");
  expect((await bench.service.get(digest, "image/png", "medium", 30_000)).state).toBe("ready");
  expect(fetched).toEqual([digest]);
});

test("ten concurrent requests get one rendering", async () => {
  await using bench = new Bench();
  const requests: unknown[] = [];
  const digest = bench.add("rotated-p3.jpg");
  const pathOf = bench.pathOf.bind(bench);
  bench.pathOf = (requested) => {
    requests.push(requested);
    return pathOf(requested);
  };
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => bench.service.get(digest, "image/jpeg", "medium", 30_000)),
  );
  expect(responses.map((response) => response.state)).toEqual(Array.from({ length: 10 }, () => "ready" as const));
  expect(requests).toHaveLength(1);
});

test("thumbnails of an upload are made without a request, also during further uploads", async () => {
  await using bench = new Bench({ isBusy: () => true });
  const digest = bench.add("plain.png");
  bench.service.schedule(digest, "image/png");
  await until(() => bench.derived.find(digest, "medium") !== undefined);
  await until(() => bench.derived.find(digest, "small") !== undefined);
  expect(bench.derived.find(digest, "large")).toBeUndefined();
});

test("what waits for thumbnails learns whether to try again", async () => {
  await using bench = new Bench();
  const digest = bench.add("plain.png");
  expect(await bench.service.make(digest, "image/png")).toBe("made");
  expect(await bench.service.make(digest, "image/png")).toBe("none");
  const broken = bench.add("broken.png");
  expect(await bench.service.make(broken, "image/png")).toBe("none");
  expect(await bench.service.make(broken, "image/png")).toBe("none");
  const missing = bench.add("rotated-p3.jpg");
  rmSync(bench.pathOf(missing));
  expect(await bench.service.make(missing, "image/jpeg")).toBe("failed");
  expect(bench.recorded.map((failure) => failure.digest)).toEqual([broken]);
});

test("a short timeout ends with pending", async () => {
  await using bench = new Bench();
  const digest = bench.add("plain.png");
  expect(await bench.service.get(digest, "image/png", "medium", 0)).toEqual({ state: "pending" });
  expect((await bench.service.get(digest, "image/png", "medium", 30_000)).state).toBe("ready");
});

test("thumbs/ may be deleted while the server runs, and a truncated file counts as absent", async () => {
  await using bench = new Bench();
  const digest = bench.add("plain.png");
  const first = await bench.service.get(digest, "image/png", "medium", 30_000);
  rmSync(bench.derived.directory, { recursive: true });
  expect(await bench.service.get(digest, "image/png", "medium", 30_000)).toEqual(first);
  for (const torn of ["", "RIFF", "RIFF\u0000\u0010\u0000\u0000WEBPVP8 "]) {
    writeFileSync(bench.derived.path(digest, "medium"), torn);
    expect(await bench.service.get(digest, "image/png", "medium", 30_000)).toEqual(first);
  }
  expect(readdirSync(join(bench.derived.directory, ".tmp"))).toEqual([]);
});

test("a smaller variant is made from a larger one, unless that is damaged", async () => {
  await using bench = new Bench();
  const digest = bench.add("plain.png");
  expect((await bench.service.get(digest, "image/png", "large", 30_000)).state).toBe("ready");
  const content = readFileSync(bench.pathOf(digest));
  rmSync(bench.pathOf(digest));
  rmSync(bench.derived.path(digest, "small"));
  expect((await bench.service.get(digest, "image/png", "small", 30_000)).state).toBe("ready");

  writeFileSync(bench.pathOf(digest), content);
  rmSync(bench.derived.path(digest, "small"));
  const path = bench.derived.path(digest, "medium");
  const damaged = readFileSync(path).fill(0, 16);
  writeFileSync(path, damaged);
  expect((await bench.service.get(digest, "image/png", "small", 30_000)).state).toBe("ready");
  expect(bench.recorded).toEqual([]);
});

test("a child that is killed once is replaced, and its jobs are completed", async () => {
  await using bench = new Bench();
  await bench.service.status();
  const [child] = findChildren();
  if (child === undefined) throw new Error("there is no child");
  const response = bench.service.get(bench.add("phone.heic"), "image/heic", "medium", 30_000);
  process.kill(child, "SIGKILL");
  expect((await response).state).toBe("ready");
  expect(findChildren()).not.toContain(child);
  expect(bench.recorded).toEqual([]);
});

test("a file that crashes the child twice is stored as a failure, and the next one is rendered", async () => {
  await using counter = new Bench();
  await using bench = new Bench({ childCommand: fakeChild("die", join(counter.directory, "count")) });
  const digest = bench.add("plain.png");
  const response = await bench.service.get(digest, "image/png", "medium", 30_000);
  expect(response).toEqual({ state: "none", reason: "the image process ended by SIGKILL" });
  expect(bench.recorded.map((failure) => failure.digest)).toEqual([digest]);
  const next = await bench.service.get(bench.add("plain.png"), "image/png", "medium", 30_000);
  expect(next).toEqual({ state: "none", reason: "alive again" });
});

test("a hanging job is ended by the timeout and stored as a failure", async () => {
  await using bench = new Bench({ childCommand: fakeChild("hang"), config: { timeoutMs: 300 } });
  const digest = bench.add("plain.png");
  const response = await bench.service.get(digest, "image/png", "medium", 30_000);
  expect(response).toEqual({ state: "none", reason: "the image process took longer than 300 ms" });
  expect(bench.recorded).toHaveLength(1);
  await until(() => findChildren().length === 0);
});

test("a job in the same process as a hanging one is retried and succeeds or fails on its own", async () => {
  // On a busy machine, the other job may take half a second, although it does nothing.
  await using bench = new Bench({ childCommand: fakeChild("hang", "0"), config: { timeoutMs: 1_500 } });
  const hanging = await bench.addBytes("x", `${"a".repeat(63)}0`);
  const innocent = await bench.addBytes("x", `${"a".repeat(63)}1`);
  const [first, second] = await Promise.all([
    bench.service.get(hanging, "image/png", "medium", 30_000),
    bench.service.get(innocent, "image/png", "medium", 30_000),
  ]);
  expect(first).toEqual({ state: "none", reason: "the image process took longer than 1500 ms" });
  expect(second).toEqual({ state: "none", reason: "answered" });
  expect(bench.recorded.map((failure) => failure.digest)).toEqual([hanging]);
});

test("the queue is bounded: scheduled work beyond it is dropped, and done on request", async () => {
  await using bench = new Bench({ isBusy: () => true, config: { patienceMs: 60_000 } });
  const first = bench.add("plain.png");
  bench.service.schedule(first, "image/png");
  for (let count = 0; count < 5000; count += 1) {
    bench.service.schedule(toDigest(count.toString(16).padStart(64, "0")), "image/png");
  }
  const last = bench.add("plain.png");
  bench.service.schedule(last, "image/png");
  expect((await bench.service.get(last, "image/png", "medium", 30_000)).state).toBe("ready");
  expect((await bench.service.get(first, "image/png", "medium", 30_000)).state).toBe("ready");
});

test("a child that uses too much memory is ended, and the file stored as a failure", async () => {
  await using bench = new Bench({
    childCommand: fakeChild("greedy"),
    config: { memoryLimitBytes: 300 * 1024 * 1024 },
  });
  const response = await bench.service.get(bench.add("plain.png"), "image/png", "medium", 30_000);
  expect(response).toEqual({ state: "none", reason: "the image process needed more than 300 MiB of memory" });
  expect(bench.recorded).toHaveLength(1);
});

test("an image library that crashes its process is disabled, and the status gives the reason", async () => {
  await using bench = new Bench({ childCommand: fakeChild("fragile") });
  expect((await bench.service.status()).renderer).toBe("bun");
  expect(bench.service.canRender("image/jpeg")).toBe(true);
  expect(bench.service.canRender("image/tiff")).toBe(false);
});

test("without a working child there are no thumbnails, a reason, and no stored failures", async () => {
  await using bench = new Bench({ childCommand: ["/nonexistent/larder"] });
  const response = await bench.service.get(bench.add("plain.png"), "image/png", "medium", 30_000);
  expect(response.state).toBe("none");
  expect((await bench.service.status()).renderer).toBe("none");
  expect(bench.recorded).toEqual([]);
});

test("errors of database and disk don't stop the server", async () => {
  await using locked = new Bench({ failures: { find: () => undefined, record: fail } });
  expect((await locked.service.get(locked.add("truncated.jpg"), "image/jpeg", "medium", 30_000)).state).toBe("none");
  expect((await locked.service.get(locked.add("plain.png"), "image/png", "medium", 30_000)).state).toBe("ready");

  await using full = new Bench({ failures: { find: fail, record: fail } });
  full.service.schedule(full.add("plain.png"), "image/png");

  await using blocked = new Bench();
  writeFileSync(blocked.derived.directory, "a file where the directory should be");
  const response = await blocked.service.get(blocked.add("plain.png"), "image/png", "medium", 30_000);
  expect(response.state).toBe("none");
  expect(blocked.recorded).toEqual([]);
});

test("the child ends when idle, and at once when the service closes", async () => {
  await using bench = new Bench({ config: { idleMs: 50 } });
  const digest = bench.add("plain.png");
  expect((await bench.service.get(digest, "image/png", "medium", 30_000)).state).toBe("ready");
  await until(() => findChildren().length === 0);
  expect((await bench.service.get(bench.add("plain.png"), "image/png", "medium", 30_000)).state).toBe("ready");
  const pending = bench.service.get(bench.add("phone.heic"), "image/heic", "large", 30_000);
  await bench.service.close();
  expect(await pending).toEqual({ state: "pending" });
  expect(findChildren()).toEqual([]);
  expect(bench.recorded).toEqual([]);
});

test("the child ends with its parent", async () => {
  const script = `
    import { Bench, findChildren } from ${JSON.stringify(join(import.meta.dir, "support.ts"))};
    const bench = new Bench();
    await bench.service.status();
    console.log(JSON.stringify({ directory: bench.directory, children: findChildren() }));
    process.kill(process.pid, "SIGKILL");`;
  const parent = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  const messages: { directory: string; children: number[] } = JSON.parse(await new Response(parent.stdout).text());
  rmSync(messages.directory, { recursive: true });
  expect(messages.children).toHaveLength(1);
  await until(() => messages.children.every((child) => !isAlive(child)));
});

test("supported media types are known without reading a file", async () => {
  await using bench = new Bench({ environment: { PATH: "/nonexistent" } });
  const yes = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/tiff", "image/svg+xml"];
  for (const type of [...yes, "image/heic", "image/heif", "IMAGE/JPEG; q=1"]) {
    expect(bench.service.canRender(type)).toBe(true);
  }
  const documents = ["application/pdf", "application/epub+zip", "application/vnd.oasis.opendocument.text"];
  for (const type of documents) expect(bench.service.canRender(type)).toBe(true);
  for (const type of [
    "application/zip",
    "application/msword",
    "text/plain",
    "audio/mpeg",
    "image/x-canon-cr2",
    "video/mp4",
    "",
  ]) {
    expect(bench.service.canRender(type)).toBe(false);
  }
  expect(findChildren()).toEqual([]);
});

function fail(): never {
  throw new Error("database is locked");
}

function isAlive(pid: number): boolean {
  const state = Bun.spawnSync(["ps", "-p", String(pid), "-o", "stat="])
    .stdout.toString()
    .trim();
  return state !== "" && !state.startsWith("Z");
}
