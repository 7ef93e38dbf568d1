// Damaged documents of every format: the real process reads all of them within its limits, and never breaks off.
import { afterAll, expect, test } from "bun:test";
import { makeZip, OFFICE_DOCUMENTS } from "../../../support/document-files.ts";
import { pdf } from "../../../support/sample-library.ts";
import { Bench } from "../thumbnails/support.ts";
import { mutate } from "./mutate.ts";
import { Extraction } from "./support.ts";

const MUTANTS = Number(process.env["LARDER_TEST_MUTANTS"] ?? 300);
const LIMITS = /took too|broke off|could not be started/;

const extraction = new Extraction();
afterAll(() => extraction[Symbol.dispose]());

const seeds: [name: string, mediaType: string, bytes: Uint8Array][] = [
  ["pdf", "application/pdf", pdf(["First page", "Second page", "Third page"])],
  // Not compressed: otherwise nearly all of them would end at a damaged compression.
  ...OFFICE_DOCUMENTS.map(([name, mediaType, entries]): [string, string, Uint8Array] => [
    name,
    mediaType,
    makeZip(entries, false),
  ]),
  ["compressed docx", OFFICE_DOCUMENTS[0]?.[1] ?? "", makeZip(OFFICE_DOCUMENTS[0]?.[2] ?? {})],
  ["html", "text/html", Buffer.from("<title>T</title><p>a<b>b</b>&auml;<script>x</script><table><td>1<td>2</table>")],
  [
    "mail",
    "message/rfc822",
    Buffer.from(
      "From: a <a@b.c>\r\nSubject: =?utf-8?q?x?=\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b--",
    ),
  ],
];

test.each(seeds)(
  `${MUTANTS} damaged files: %s`,
  async (_, mediaType, bytes) => {
    for (let seed = 0; seed < MUTANTS; seed++) {
      const result = await extraction.extract(mutate(bytes, seed), mediaType);
      if (result.kind === "none" && LIMITS.test(result.reason)) throw new Error(`seed ${seed}: ${result.reason}`);
    }
    expect(await extraction.text("still here", "text/plain")).toBe("still here");
  },
  120_000,
);

test("damaged PDFs and office files have a thumbnail or none, and do not end the process", async () => {
  await using bench = new Bench();
  for (const [, mediaType, bytes] of seeds.filter(([name]) => name === "pdf" || name === "odt")) {
    for (let seed = 0; seed < MUTANTS / 4; seed++) {
      const digest = await bench.addBytes(mutate(bytes, seed));
      const result = await bench.service.get(digest, mediaType, "small", 30_000);
      expect(result.state).not.toBe("pending");
    }
  }
  expect(bench.recorded.filter(({ reason }) => reason.startsWith("the image process"))).toEqual([]);
}, 120_000);
