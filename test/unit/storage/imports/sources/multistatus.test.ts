import { expect, test } from "bun:test";
import { MultistatusParser } from "../../../../../src/features/storage/imports/sources/nextcloud/multistatus.ts";

const HEAD = '<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">';
const FILE =
  "<d:response><d:href>/a</d:href><d:propstat><d:prop/><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>";

function writeAll(parts: Iterable<string>): number {
  const parser = new MultistatusParser();
  let count = 0;
  for (const part of parts) count += parser.write(Buffer.from(part)).length;
  return count + parser.finish().length;
}

function* repeated(head: string, part: string, count: number, end = ""): Generator<string> {
  yield head;
  for (let number = 0; number < count; number++) yield part;
  yield end;
}

test("a list of any length is read", () => {
  expect(writeAll(repeated(HEAD, FILE.repeat(100), 200, "</d:multistatus>"))).toBe(20_000);
});

test.each([
  ["attribute", `${HEAD}<d:response a="`, "x".repeat(10_000)],
  ["list of empty properties", `${HEAD}<d:response><d:href>/a</d:href><d:propstat><d:prop>`, "<a/>".repeat(2_500)],
  ["comment", `${HEAD}<!--`, "x".repeat(10_000)],
])("an endless %s is rejected", (_, head, part) => {
  // A server could fill the memory.
  let written = 0;
  const counted = function* () {
    for (const text of repeated(head, part, 1_000)) {
      written++;
      yield text;
    }
  };
  expect(() => writeAll(counted())).toThrow("not the list of a WebDAV folder");
  expect(written).toBeLessThan(200);
});
