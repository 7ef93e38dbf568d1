// The effects of a hostile file on the process that reads it, simulated by a program.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RequestProcess } from "../../../../src/features/media/processes/request-process.ts";

const directory = mkdtempSync(join(tmpdir(), "larder-media-process-"));
const program = join(directory, "program.ts");
writeFileSync(
  program,
  `process.on("message", ({ id, request: path }) => {
     if (path === "crash") process.exit(3);
     if (path === "hang") for (;;);
     if (path === "grow") globalThis.held = Buffer.alloc(400 * 1024 * 1024, 1);
     if (path === "wait") Bun.sleepSync(2_000);
     if (path === "refuse") process.send({ type: "failed", id, reason: "no" });
     else if (path !== "grow") {
       process.send({ type: "part", id, part: "part of " + path });
       process.send({ type: "done", id, reply: path });
     }
   });
   process.on("disconnect", () => process.exit(0));
   process.send({ type: "hello", unconfined: "no filters" });`,
);
const unconfined: string[] = [];
const reading = new RequestProcess<string, string>({
  command: [process.execPath, program],
  onUnconfined: (reason) => unconfined.push(reason),
  environment: {},
  timeoutMs: 1_500,
  memoryLimitBytes: 300 * 1024 * 1024,
});
afterAll(() => {
  reading.close();
  rmSync(directory, { recursive: true, force: true });
});

test("a file that crashes, blocks or bloats the process fails alone, and the next one is read", async () => {
  expect(await reading.request("one")).toEqual({ reply: "one", parts: ["part of one"] });
  expect(unconfined).toEqual(["no filters"]);
  expect(await reading.request("refuse")).toEqual({ reason: "no" });
  for (const harm of ["crash", "hang", "grow"]) {
    expect(await reading.request(harm)).toMatchObject({ loss: harm === "crash" ? "crash" : "limit" });
    expect(await reading.request("after")).toEqual({ reply: "after", parts: ["part of after"] });
  }
}, 120_000);

test("only processor time counts, of which a busy machine gives the process little", async () => {
  // A process that starts has more time.
  expect(await reading.request("one")).toMatchObject({ reply: "one" });
  expect(await reading.request("wait")).toEqual({ reply: "wait", parts: ["part of wait"] });
});

test("a program that cannot be started is reported, not thrown", async () => {
  const none = new RequestProcess<string, string>({
    command: [join(directory, "nothing")],
    environment: {},
    timeoutMs: 100,
    memoryLimitBytes: 1,
  });
  expect(await none.request("x")).toMatchObject({ loss: "crash" });
  none.close();
});
