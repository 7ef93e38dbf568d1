// The real processes that read files: they are confined before their first request, and ended at their limits.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DocumentReply, DocumentRequest } from "../../../../src/features/media/documents/types.ts";
import { RequestProcess } from "../../../../src/features/media/processes/request-process.ts";
import { pdf } from "../../../support/sample-library.ts";
import { workerCommand } from "../documents/support.ts";
import { findObstacle } from "./find-obstacle.ts";

const directory = mkdtempSync(join(tmpdir(), "larder-workers-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test.skipIf(findObstacle() !== undefined).each(["thumbnail-worker", "media-worker", "document-worker"])(
  "all threads of %s have the filter when it takes requests",
  async (name) => {
    const { promise: hello, resolve } = Promise.withResolvers<void>();
    await using child = Bun.spawn(workerCommand(name), { env: {}, serialization: "json", ipc: () => resolve() });
    await hello;
    for (const thread of readdirSync(`/proc/${child.pid}/task`)) {
      const status = readFileSync(`/proc/${child.pid}/task/${thread}/status`, "utf8");
      // 2 is SECCOMP_MODE_FILTER (proc(5)).
      expect(status).toMatch(/^Seccomp:\s*2$/m);
      expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
    }
  },
);

const path = join(directory, "long.pdf");
writeFileSync(path, pdf(Array.from({ length: 20_000 }, (_, index) => `Page ${index}`)));

test.each([
  ["time", { timeoutMs: 1, memoryLimitBytes: 2 ** 30 }, "It took too long."],
  ["memory", { timeoutMs: 30_000, memoryLimitBytes: 2 ** 20 }, "It took too much memory."],
])("the process that reads documents ends at its limit of %s, and starts again", async (_, limits, reason) => {
  const reading = new RequestProcess<DocumentRequest, DocumentReply>({
    command: workerCommand("document-worker"),
    environment: {},
    ...limits,
  });
  // The first request has time to start the process; the time of the second one counts from its beginning.
  const small = join(directory, "small.txt");
  writeFileSync(small, "small");
  if (limits.timeoutMs === 1) await reading.request({ path: small, mediaType: "text/plain" });
  for (let round = 0; round < 2; round++) {
    expect(await reading.request({ path, mediaType: "application/pdf" })).toEqual({ reason, loss: "limit" });
    if (limits.timeoutMs === 1) {
      expect(await reading.request({ path: small, mediaType: "text/plain" })).toMatchObject({ parts: ["small"] });
    }
  }
  reading.close();
});
