// The effects of a hostile file on the process that reads it, simulated by a program.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MediaProcess } from "../../../../src/features/media/metadata/media-process.ts";
import { NO_MEDIA_INFO } from "../../../../src/features/media/metadata/types.ts";

const NOTHING = { contentId: null, motion: null, place: null };

const directory = mkdtempSync(join(tmpdir(), "larder-media-process-"));
const program = join(directory, "program.ts");
writeFileSync(
  program,
  `const readingOf = (title) => ({ ...${JSON.stringify(NOTHING)}, info: { ...${JSON.stringify(NO_MEDIA_INFO)}, title } });
   process.on("message", ({ id, path }) => {
     if (path === "crash") process.exit(3);
     if (path === "hang") for (;;);
     if (path === "grow") globalThis.held = Buffer.alloc(400 * 1024 * 1024, 1);
     if (path === "refuse") process.send({ type: "failed", id, reason: "no" });
     else if (path !== "grow") process.send({ type: "read", id, reading: readingOf(path) });
   });
   process.on("disconnect", () => process.exit(0));
   process.send({ type: "hello" });`,
);
const reading = new MediaProcess({
  command: [process.execPath, program],
  environment: {},
  timeoutMs: 1_500,
  memoryLimitBytes: 300 * 1024 * 1024,
});
afterAll(() => {
  reading.close();
  rmSync(directory, { recursive: true, force: true });
});

test("a file that crashes, blocks or bloats the process fails alone, and the next one is read", async () => {
  expect(await reading.read({ path: "one", mediaType: "" })).toEqual({
    reading: { ...NOTHING, info: { ...NO_MEDIA_INFO, title: "one" } },
  });
  expect(await reading.read({ path: "refuse", mediaType: "" })).toMatchObject({ reason: "no", isLost: false });
  for (const harm of ["crash", "hang", "grow"]) {
    expect(await reading.read({ path: harm, mediaType: "" })).toMatchObject({ isLost: true });
    expect(await reading.read({ path: "after", mediaType: "" })).toEqual({
      reading: { ...NOTHING, info: { ...NO_MEDIA_INFO, title: "after" } },
    });
  }
}, 120_000);

test("a program that cannot be started is reported, not thrown", async () => {
  const none = new MediaProcess({
    command: [join(directory, "nothing")],
    environment: {},
    timeoutMs: 100,
    memoryLimitBytes: 1,
  });
  expect(await none.read({ path: "x", mediaType: "" })).toMatchObject({ isLost: true });
  none.close();
});
