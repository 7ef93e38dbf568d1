import { expect, test } from "bun:test";
import { announcer, createLog, logForm, usesColors } from "../../../src/lib/log.ts";
import { insideRequest, nameRequest, outsideRequests } from "../../../src/lib/async-context.ts";

function collecting(form: "json" | "pretty" = "json", level: "debug" | "info" = "info") {
  const lines: string[] = [];
  return { log: createLog(form, level, (line) => lines.push(line)), lines };
}

function parsed(lines: readonly string[]): Record<string, unknown>[] {
  return lines.map((line) => JSON.parse(line));
}

test("auto is pretty at a terminal and JSON elsewhere", () => {
  expect([logForm("auto", true), logForm("auto", false)]).toEqual(["pretty", "json"]);
  expect([logForm("json", true), logForm("pretty", false)]).toEqual(["json", "pretty"]);
});

test("a JSON line is one object with time, level and message", () => {
  const { log, lines } = collecting();
  log.info("Hello.", { files: 2, error: new Error("broken", { cause: "wire" }) });
  const [line] = parsed(lines);
  expect(line).toMatchObject({ level: "info", message: "Hello.", files: 2 });
  expect(String(line?.["error"])).toContain("Error: broken");
  expect(String(line?.["error"])).toContain("caused by wire");
  expect(Date.parse(String(line?.["time"]))).toBeNumber();
});

test("no format lets a control character through", () => {
  for (const form of ["json", "pretty"] as const) {
    const { log, lines } = collecting(form);
    log.info("a\nb\u001b[31m\u009b31m\u007f", { name: "c\r\nd\u009b31m", ["k\u0085ey"]: 1 });
    // oxlint-disable-next-line no-control-regex -- it is what must not be there
    expect(lines.join("").slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  }
});

test("a pretty line is colored only if colors are on, and never by its message", () => {
  const lines: string[] = [];
  const log = createLog("pretty", "info", (line) => lines.push(line), { isColored: true });
  log.warn("Careful.", { name: "a\u001b[31mb" });
  const [line = ""] = lines;
  expect(line).toContain("\u001b[33mwarn \u001b[0m Careful.");
  expect(line).toContain("a\\u001b[31mb");
  expect(Bun.stripANSI(line)).toMatch(/^\S+Z warn {2}Careful\. name="a\\u001b\[31mb"\n$/);
});

test("colors are for terminals, and NO_COLOR turns them off", () => {
  expect(usesColors({}, true)).toBe(true);
  expect(usesColors({ NO_COLOR: "" }, true)).toBe(true);
  expect(usesColors({ NO_COLOR: "1" }, true)).toBe(false);
  expect(usesColors({ TERM: "dumb" }, true)).toBe(false);
  expect(usesColors({}, false)).toBe(false);
});

test("an announcement is plain text, or a JSON line in the JSON format", () => {
  const written: string[] = [];
  const write = (line: string) => written.push(line);
  announcer("auto", write)("listening on http://a:1");
  announcer("pretty", write)("one line", "two\nlines\n");
  announcer("json", write)("one line", "two\nlines\n");
  expect(written.slice(0, 2)).toEqual(["listening on http://a:1\n", "two\nlines\n"]);
  expect(JSON.parse(written[2] ?? "")).toMatchObject({ level: "info", message: "one line" });
});

test("a line for a request has its id, also after an await; a shared commit has none", async () => {
  const { log, lines } = collecting();
  await Promise.all(
    ["one", "two"].map((id) =>
      insideRequest(async () => {
        log.info("before it has an id");
        nameRequest(id);
        await Promise.resolve();
        log.info("within");
        outsideRequests(() => setImmediate(() => log.info("commit")));
        await new Promise((done) => setTimeout(done, 2));
        log.info("after");
      }),
    ),
  );
  log.info("outside");
  const ids = (message: string) =>
    parsed(lines).flatMap((line) => (line["message"] === message ? [line["requestId"]] : []));
  expect(new Set(ids("within"))).toEqual(new Set(["one", "two"]));
  expect(new Set(ids("after"))).toEqual(new Set(["one", "two"]));
  expect(ids("commit")).toEqual([undefined, undefined]);
  expect(ids("before it has an id")).toEqual([undefined, undefined]);
  expect(ids("outside")).toEqual([undefined]);
});

test("each repeated message is limited to twenty a minute, announcements are not limited", () => {
  const { log, lines } = collecting("json", "debug");
  for (let round = 0; round < 100; round++) {
    log.warn("The disk is full.");
    log.error("It failed.", { error: new Error("one") });
    log.error("It failed.", { error: new Error("two") });
    log.info("request");
  }
  const count = (message: string) => parsed(lines).filter((line) => line["message"] === message).length;
  expect([count("The disk is full."), count("It failed."), count("request")]).toEqual([20, 40, 100]);
});

test("too many kinds of messages evict the oldest, which reports how many lines were dropped", () => {
  const { log, lines } = collecting();
  for (let round = 0; round < 25; round++) log.warn("First.");
  for (let kind = 0; kind < 500; kind++) log.warn(`Kind ${kind}.`);
  expect(parsed(lines).find((line) => "repeated" in line)).toMatchObject({
    level: "warn",
    repeated: "First.",
    lines: 5,
  });
});
