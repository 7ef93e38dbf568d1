import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toDigest } from "../../../../src/blobs/digest.ts";
import { Bench, fakeChild, findChildren, until } from "./support.ts";

test("D32: hostile and damaged contents fail once, are remembered, and not tried again", async () => {
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
    rmSync(bench.pathOf(digest)); // a second try would fail for another reason
    expect(await bench.service.get(digest, mediaType, "small")).toEqual(first);
    expect(bench.recorded.filter((failure) => failure.digest === digest)).toHaveLength(1);
  }
  const picture = await bench.service.get(bench.add("plain.png"), "image/png", "medium", 30_000);
  expect(picture.state).toBe("ready");
});

test("D32: a failure of another program version is tried again", async () => {
  await using bench = new Bench();
  const digest = bench.add("plain.png");
  bench.recorded.push({ digest, reason: "it was too new", program: "larder 0.0.1" });
  expect((await bench.service.get(digest, "image/png", "medium", 30_000)).state).toBe("ready");
});

test("a content that is missing is nobody's fault and not remembered", async () => {
  await using bench = new Bench();
  const digest = bench.add("plain.png");
  rmSync(bench.pathOf(digest));
  expect((await bench.service.get(digest, "image/png", "medium", 30_000)).state).toBe("none");
  expect(bench.recorded).toEqual([]);
});

test("ten who ask at once get one rendering", async () => {
  await using bench = new Bench();
  const requests: unknown[] = [];
  const digest = bench.add("rotated-p3.jpg");
  const pathOf = bench.pathOf.bind(bench);
  bench.pathOf = (asked) => {
    requests.push(asked);
    return pathOf(asked);
  };
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => bench.service.get(digest, "image/jpeg", "medium", 30_000)),
  );
  expect(responses.map((response) => response.state)).toEqual(Array.from({ length: 10 }, () => "ready" as const));
  expect(requests).toHaveLength(1);
});

test("an upload's thumbnails come without anybody asking, also while uploads run on", async () => {
  await using bench = new Bench({ isBusy: () => true });
  const digest = bench.add("plain.png");
  bench.service.schedule(digest, "image/png");
  await until(() => bench.derived.find(digest, "medium") !== undefined);
  await until(() => bench.derived.find(digest, "small") !== undefined);
  expect(bench.derived.find(digest, "large")).toBeUndefined();
});

test("who waits too little is told that it is in the making", async () => {
  await using bench = new Bench();
  const digest = bench.add("plain.png");
  expect(await bench.service.get(digest, "image/png", "medium", 0)).toEqual({ state: "pending" });
  expect((await bench.service.get(digest, "image/png", "medium", 30_000)).state).toBe("ready");
});

test("thumbs/ may be deleted while the server runs; a torn file counts as absent", async () => {
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

test("a child that is killed once is replaced, and its work is done", async () => {
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

test("a content under which the child dies twice is remembered, and the next one is served", async () => {
  await using counter = new Bench();
  await using bench = new Bench({ childCommand: fakeChild("die", join(counter.directory, "count")) });
  const digest = bench.add("plain.png");
  const response = await bench.service.get(digest, "image/png", "medium", 30_000);
  expect(response).toEqual({ state: "none", reason: "the image process ended by SIGKILL" });
  expect(bench.recorded.map((failure) => failure.digest)).toEqual([digest]);
  const next = await bench.service.get(bench.add("plain.png"), "image/png", "medium", 30_000);
  expect(next).toEqual({ state: "none", reason: "alive again" });
});

test("a hang is ended after its time and remembered", async () => {
  await using bench = new Bench({ childCommand: fakeChild("hang"), config: { timeoutMs: 300 } });
  const digest = bench.add("plain.png");
  const response = await bench.service.get(digest, "image/png", "medium", 30_000);
  expect(response).toEqual({ state: "none", reason: "the image process took longer than 300 ms" });
  expect(bench.recorded).toHaveLength(1);
  await until(() => findChildren().length === 0);
});

test("who shared a process with a hang is done again and not blamed for it", async () => {
  await using bench = new Bench({ childCommand: fakeChild("hang", "0"), config: { timeoutMs: 300 } });
  const hanging = await bench.addBytes("x", `${"a".repeat(63)}0`);
  const innocent = await bench.addBytes("x", `${"a".repeat(63)}1`);
  const [first, second] = await Promise.all([
    bench.service.get(hanging, "image/png", "medium", 30_000),
    bench.service.get(innocent, "image/png", "medium", 30_000),
  ]);
  expect(first).toEqual({ state: "none", reason: "the image process took longer than 300 ms" });
  expect(second).toEqual({ state: "none", reason: "answered" });
  expect(bench.recorded.map((failure) => failure.digest)).toEqual([hanging]);
});

test("the queue is bounded: what is scheduled beyond it is dropped, and made when somebody asks", async () => {
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

test("D60: a child that takes too much memory is ended, and the content remembered", async () => {
  await using bench = new Bench({
    childCommand: fakeChild("greedy"),
    config: { memoryLimitBytes: 300 * 1024 * 1024 },
  });
  const response = await bench.service.get(bench.add("plain.png"), "image/png", "medium", 30_000);
  expect(response).toEqual({ state: "none", reason: "the image process needed more than 300 MiB of memory" });
  expect(bench.recorded).toHaveLength(1);
});

test("D47: where the image library kills its process, it is left out; the reason is told", async () => {
  await using bench = new Bench({ childCommand: fakeChild("fragile") });
  expect((await bench.service.status()).renderer).toBe("bun");
  expect(bench.service.canRender("image/jpeg")).toBe(true);
  expect(bench.service.canRender("image/tiff")).toBe(false);
});

test("where no child can be started there are no thumbnails, a reason, and nothing remembered", async () => {
  await using bench = new Bench({ childCommand: ["/nonexistent/larder"] });
  const response = await bench.service.get(bench.add("plain.png"), "image/png", "medium", 30_000);
  expect(response.state).toBe("none");
  expect((await bench.service.status()).renderer).toBe("none");
  expect(bench.recorded).toEqual([]);
});

test("a database that refuses to remember, and a disk that takes nothing, leave the server running", async () => {
  await using locked = new Bench({ failures: { find: () => undefined, record: refuse } });
  expect((await locked.service.get(locked.add("truncated.jpg"), "image/jpeg", "medium", 30_000)).state).toBe("none");
  expect((await locked.service.get(locked.add("plain.png"), "image/png", "medium", 30_000)).state).toBe("ready");

  await using full = new Bench({ failures: { find: refuse, record: refuse } });
  full.service.schedule(full.add("plain.png"), "image/png");

  await using blocked = new Bench();
  writeFileSync(blocked.derived.directory, "a file where the directory should be");
  const response = await blocked.service.get(blocked.add("plain.png"), "image/png", "medium", 30_000);
  expect(response.state).toBe("none");
  expect(blocked.recorded).toEqual([]);
});

test("the child ends when it has nothing to do, and closing ends it at once", async () => {
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
  const told: { directory: string; children: number[] } = JSON.parse(await new Response(parent.stdout).text());
  rmSync(told.directory, { recursive: true });
  expect(told.children).toHaveLength(1);
  await until(() => told.children.every((child) => !isAlive(child)));
});

test("which media types may have a thumbnail is known without looking at a content", async () => {
  await using bench = new Bench({ environment: { PATH: "/nonexistent" } });
  const yes = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/tiff", "image/svg+xml"];
  for (const type of [...yes, "image/heic", "image/heif", "IMAGE/JPEG; q=1"]) {
    expect(bench.service.canRender(type)).toBe(true);
  }
  for (const type of ["application/pdf", "text/plain", "audio/mpeg", "image/x-canon-cr2", "video/mp4", ""]) {
    expect(bench.service.canRender(type)).toBe(false);
  }
  expect(findChildren()).toEqual([]);
});

function refuse(): never {
  throw new Error("database is locked");
}

function isAlive(pid: number): boolean {
  const state = Bun.spawnSync(["ps", "-p", String(pid), "-o", "stat="])
    .stdout.toString()
    .trim();
  return state !== "" && !state.startsWith("Z");
}
