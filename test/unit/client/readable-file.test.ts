import { describe, expect, test } from "bun:test";
import { sendByTus } from "../../../src/client/features/uploads/engine/transfer.ts";
import { isReadable } from "../../../src/client/base/readable-file.ts";

/** What Chromium returns for a file that it could not open: empty, and an error on reading. */
function unreadableFile(): File {
  const file = new File([], "ü.txt");
  file.arrayBuffer = () => Promise.reject(new DOMException("The file could not be read.", "NotReadableError"));
  return file;
}

describe("a file that the browser can't read", () => {
  test("is distinguished from an empty one", async () => {
    expect(await isReadable(unreadableFile())).toBe(false);
    expect(await isReadable(new File([], "empty.txt"))).toBe(true);
    expect(await isReadable(new File(["abc"], "a.txt"), 3)).toBe(true);
  });

  test("is not uploaded as an empty one", async () => {
    const requests: string[] = [];
    const server = Bun.serve({
      port: 0,
      fetch: (request) => {
        requests.push(request.url);
        return new Response(null, { status: 201, headers: { location: "/x", "tus-resumable": "1.0.0" } });
      },
    });
    try {
      const sent = sendByTus({
        file: unreadableFile(),
        endpoint: `${server.url.origin}/api/tus`,
        url: undefined,
        metadata: {},
        chunkSize: 1024,
        idempotencyKey: "key",
        signal: new AbortController().signal,
        onProgress: () => {},
        onUrl: () => {},
      });
      expect(await sent.catch((error: unknown) => error)).toMatchObject({ failure: { kind: "unreadable" } });
      expect(requests).toEqual([]);
    } finally {
      await server.stop(true);
    }
  });
});
