import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, checksumOf, digestOf, randomContent } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { tinyPng } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** One file of ten bytes for all tests that only read. */
let reader: Account;
let path = "";
const text = "0123456789";
const etag = `"${digestOf(text)}"`;

beforeAll(async () => {
  reader = await server().signUp();
  const id = await reader.client.storedId(text, { name: "digits.txt", type: "text/plain" });
  path = `/api/files/${id}/download`;
});

describe("a download", () => {
  test("has its own bytes, however many are sent at the same time", async () => {
    const contents = Array.from({ length: 40 }, (_, index) => randomContent(20_000 + index));
    const ids = await Promise.all(
      contents.map((content, index) => reader.client.storedId(content, { name: `concurrent ${index}` })),
    );
    const requests = ids.flatMap((id, index) => [
      { index, from: 0, to: 20_000 + index, response: reader.client.get(`/api/files/${id}/download`) },
      {
        index,
        from: 100,
        to: 10_100,
        response: reader.client.get(`/api/files/${id}/download`, { range: "bytes=100-10099" }),
      },
    ]);
    for (const { index, from, to, response } of requests) {
      const { bytes } = await response;
      expect(Buffer.from(bytes).equals(Buffer.from(contents[index] ?? []).subarray(from, to))).toBe(true);
    }
  });

  test("returns the content with its headers", async () => {
    const response = await reader.client.get(path);
    expectStatus(response, 200);
    expect(response.text).toBe(text);
    expect(response.header("content-type")).toStartWith("text/plain");
    expect(response.header("content-length")).toBe("10");
    expect(response.header("content-disposition")).toMatch(/^attachment\b.*filename="?digits\.txt"?/);
    expect(response.header("cache-control")).toBe("private, max-age=3600");
    expect(response.header("etag")).toBe(etag);
    expect(response.header("accept-ranges")).toBe("bytes");
    expect(response.header("x-content-type-options")).toBe("nosniff");
    expect(response.header("content-security-policy")).toMatch(/\bsandbox\b/);
    const vary = response.header("vary").toLowerCase();
    expect(vary).toContain("authorization");
    expect(vary).toContain("cookie");
    const modified = Date.parse(response.header("last-modified"));
    expect(Math.abs(modified - Date.now())).toBeLessThan(60_000);
    expect(response.header("last-modified")).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
  });

  test("by HEAD has the same headers without a body", async () => {
    const [get, head] = [await reader.client.get(path), await reader.client.head(path)];
    expectStatus(head, 200);
    expect(head.bytes).toHaveLength(0);
    for (const name of [
      "content-type",
      "content-length",
      "content-disposition",
      "etag",
      "last-modified",
      "accept-ranges",
    ])
      expect({ name, value: head.header(name) }).toEqual({ name, value: get.header(name) });
  });

  test("of a large file is complete", async () => {
    const { client } = await server().signUp();
    const content = randomContent(9_000_001);
    const id = await client.storedId(content);
    const response = await client.get(`/api/files/${id}/download`);
    expect(response.header("content-length")).toBe("9000001");
    expect(checksumOf(response.bytes)).toBe(checksumOf(content));
  });

  test("of an unknown file is 404", async () => {
    expectError(await reader.client.get("/api/files/file_00000000000000000000/download"), 404);
    expectStatus(await reader.client.head("/api/files/file_00000000000000000000/download"), 404);
  });

  test("keeps Last-Modified after a rename, and changes ETag only with the content", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("one");
    const before = await client.head(`/api/files/${id}/download`);
    await client.put(`/api/files/${id}`, { name: "renamed.txt", tags: ["x"] });
    const renamed = await client.head(`/api/files/${id}/download`);
    expect(renamed.header("etag")).toBe(before.header("etag"));
    expect(renamed.header("last-modified")).toBe(before.header("last-modified"));
    await client.putContent(id, "two");
    expect((await client.head(`/api/files/${id}/download`)).header("etag")).toBe(`"${digestOf("two")}"`);
  });
});

describe("a range", () => {
  test.each([
    ["bytes=0-0", "0", "bytes 0-0/10"],
    ["bytes=0-3", "0123", "bytes 0-3/10"],
    ["bytes=4-", "456789", "bytes 4-9/10"],
    ["bytes=-3", "789", "bytes 7-9/10"],
    ["bytes=-100", text, "bytes 0-9/10"],
    ["bytes=8-100", "89", "bytes 8-9/10"],
    ["bytes=9-9", "9", "bytes 9-9/10"],
    ["bytes=0-9", text, "bytes 0-9/10"],
    ["Bytes=1-2", "12", "bytes 1-2/10"],
  ])("%s is 206", async (range, body, contentRange) => {
    const response = await reader.client.get(path, { range });
    expectStatus(response, 206);
    expect(response.text).toBe(body);
    expect(response.header("content-range")).toBe(contentRange);
    expect(response.header("content-length")).toBe(String(body.length));
    expect(response.header("etag")).toBe(etag);
    expect(response.header("content-type")).toStartWith("text/plain");
  });

  test.each(["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-"])("%s is 416", async (range) => {
    const response = await reader.client.get(path, { range });
    expectError(response, 416, "range_not_satisfiable");
    expect(response.header("content-range")).toBe("bytes */10");
  });

  test.each([
    "bytes=5-2",
    "bytes=a-b",
    "bytes=",
    "bytes=-",
    "bytes",
    "lines=0-3",
    "bytes=0-3,a-b",
    "bytes=1.5-3",
    "bytes=--3",
    "bytes=0x0-0x3",
  ])("%s is malformed and ignored", async (range) => {
    const response = await reader.client.get(path, { range });
    expectStatus(response, 200);
    expect(response.text).toBe(text);
  });

  test("of several parts is multipart/byteranges", async () => {
    const response = await reader.client.get(path, { range: "bytes=0-1, 4-5,-1" });
    expectStatus(response, 206);
    const boundary = /^multipart\/byteranges; ?boundary="?([^"]+)"?$/.exec(response.header("content-type"))?.[1];
    expect(boundary).toBeDefined();
    expect(response.header("content-length")).toBe(String(response.bytes.length));
    expect(response.headers.get("content-range")).toBeNull();
    const parts = response.text
      .split(`--${boundary}`)
      .slice(1, -1)
      .map((part) => {
        const [head = "", body = ""] = part.split("\r\n\r\n");
        return {
          range: /content-range: (.+)/i.exec(head)?.[1]?.trim(),
          type: /content-type: text\/plain/i.test(head),
          body,
        };
      });
    expect(parts).toEqual([
      { range: "bytes 0-1/10", type: true, body: "01\r\n" },
      { range: "bytes 4-5/10", type: true, body: "45\r\n" },
      { range: "bytes 9-9/10", type: true, body: "9\r\n" },
    ]);
    expect(response.text).toEndWith(`--${boundary}--\r\n`);
  });

  test("of several parts returns the only satisfiable one", async () => {
    const response = await reader.client.get(path, { range: "bytes=2-3,50-60" });
    expectStatus(response, 206);
    expect(response.text).toContain("23");
  });

  test("of several parts is 416 if none is satisfiable", async () => {
    expectError(await reader.client.get(path, { range: "bytes=20-30,50-60" }), 416, "range_not_satisfiable");
  });

  test("with more than 16 parts or with overlapping ones is ignored", async () => {
    const many = Array.from({ length: 17 }, () => "1-1").join(",");
    const spread = Array.from({ length: 17 }, (_, index) => `${index}-${index}`).join(",");
    for (const range of [`bytes=${many}`, `bytes=${spread}`, "bytes=0-5,3-8", "bytes=0-,0-,0-", "bytes=-3,8-9"]) {
      const response = await reader.client.get(path, { range });
      expect({ range, status: response.status, text: response.text }).toEqual({ range, status: 200, text });
    }
  });

  test("with 16 parts is returned", async () => {
    const { client } = await server().signUp();
    const content = randomContent(100);
    const id = await client.storedId(content);
    const ranges = Array.from({ length: 16 }, (_, index) => `${index * 5}-${index * 5 + 1}`).join(",");
    expectStatus(await client.get(`/api/files/${id}/download`, { range: `bytes=${ranges}` }), 206);
  });

  test("of an empty file is not satisfiable from its start", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("", { name: "empty" });
    const response = await client.get(`/api/files/${id}/download`, { range: "bytes=0-" });
    expectError(response, 416);
    expect(response.header("content-range")).toBe("bytes */0");
  });

  test("in a HEAD request is ignored", async () => {
    const response = await reader.client.head(path, { range: "bytes=0-3" });
    expectStatus(response, 200);
    expect(response.header("content-length")).toBe("10");
  });

  test("joined with the others is the whole file", async () => {
    const { client } = await server().signUp();
    const content = randomContent(300_000);
    const id = await client.storedId(content);
    const parts: Uint8Array[] = [];
    for (let start = 0; start < content.length; start += 65_536) {
      const end = Math.min(start + 65_535, content.length - 1);
      const response = await client.get(`/api/files/${id}/download`, { range: `bytes=${start}-${end}` });
      expectStatus(response, 206);
      parts.push(response.bytes);
    }
    expect(checksumOf(Buffer.concat(parts))).toBe(checksumOf(content));
  });
});

describe("conditions", () => {
  const past = "Mon, 01 Jan 2001 00:00:00 GMT";
  const future = "Fri, 01 Jan 2100 00:00:00 GMT";

  test.each<[string, Record<string, string>, number]>([
    ["If-None-Match with the ETag", { "if-none-match": etag }, 304],
    ["If-None-Match with the weak form", { "if-none-match": `W/${etag}` }, 304],
    ["If-None-Match in a list", { "if-none-match": `"a", ${etag}, "b"` }, 304],
    ["If-None-Match with a comma inside a tag", { "if-none-match": `"a,b", ${etag}` }, 304],
    ["If-None-Match *", { "if-none-match": "*" }, 304],
    ["If-None-Match with another", { "if-none-match": '"other"' }, 200],
    ["If-Match with the ETag", { "if-match": etag }, 200],
    ["If-Match in a list", { "if-match": `"a", ${etag}` }, 200],
    ["If-Match *", { "if-match": "*" }, 200],
    ["If-Match with another", { "if-match": '"other"' }, 412],
    ["If-Match with the weak form", { "if-match": `W/${etag}` }, 412],
    ["If-Modified-Since in the past", { "if-modified-since": past }, 200],
    ["If-Modified-Since in the future", { "if-modified-since": future }, 304],
    ["If-Modified-Since that is no date", { "if-modified-since": "yesterday" }, 200],
    ["If-Unmodified-Since in the past", { "if-unmodified-since": past }, 412],
    ["If-Unmodified-Since in the future", { "if-unmodified-since": future }, 200],
    ["If-Unmodified-Since that is no date", { "if-unmodified-since": "yesterday" }, 200],
    ["If-Match before If-Unmodified-Since", { "if-match": etag, "if-unmodified-since": past }, 200],
    ["If-None-Match before If-Modified-Since", { "if-none-match": '"other"', "if-modified-since": future }, 200],
    [
      "If-None-Match before If-Modified-Since, the other way",
      { "if-none-match": etag, "if-modified-since": past },
      304,
    ],
    ["If-Match before If-None-Match", { "if-match": '"other"', "if-none-match": etag }, 412],
    ["If-Unmodified-Since before If-None-Match", { "if-unmodified-since": past, "if-none-match": etag }, 412],
    ["both that hold", { "if-match": etag, "if-none-match": '"other"' }, 200],
  ])("%s", async (_, headers, status) => {
    const [get, head] = [await reader.client.get(path, headers), await reader.client.head(path, headers)];
    expectStatus(get, status);
    expectStatus(head, status);
    if (status === 412) expectError(get, 412, "precondition_failed");
    if (status !== 304) return;
    expect(get.bytes).toHaveLength(0);
    expect(get.header("etag")).toBe(etag);
    expect(get.header("cache-control")).toBe("private, max-age=3600");
    expect(get.header("vary").toLowerCase()).toContain("authorization");
  });

  test("Last-Modified itself is not modified since", async () => {
    const since = (await reader.client.head(path)).header("last-modified");
    expectStatus(await reader.client.get(path, { "if-modified-since": since }), 304);
    expectStatus(await reader.client.get(path, { "if-unmodified-since": since }), 200);
  });

  test.each<[string, string, number]>([
    ["the ETag", etag, 206],
    ["another ETag", '"other"', 200],
    ["the weak form", `W/${etag}`, 200],
    ["a date in the past", past, 200],
    ["rubbish", "rubbish", 200],
  ])("If-Range with %s", async (_, ifRange, status) => {
    const response = await reader.client.get(path, { range: "bytes=0-3", "if-range": ifRange });
    expectStatus(response, status);
    expect(response.text).toBe(status === 206 ? "0123" : text);
  });

  test("a failed If-Range returns the whole file for an unsatisfiable range", async () => {
    expectStatus(await reader.client.get(path, { range: "bytes=50-", "if-range": '"other"' }), 200);
  });

  test("the other conditions are evaluated before a range", async () => {
    expectStatus(await reader.client.get(path, { range: "bytes=0-3", "if-none-match": etag }), 304);
    expectStatus(await reader.client.get(path, { range: "bytes=0-3", "if-match": '"other"' }), 412);
    expectStatus(await reader.client.get(path, { range: "bytes=50-", "if-none-match": etag }), 304);
  });
});

describe("inline", () => {
  const pdf = "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF";
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const html = "<!DOCTYPE html><html><script>alert(1)</script></html>";
  const xhtml = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>';
  const xslt = '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="x.xsl"?><a/>';
  const gifPolyglot = Buffer.concat([Buffer.from("GIF89a\x01\0\x01\0\0\0\0;", "latin1"), Buffer.from(html)]);

  test.each<[string, string | Uint8Array, string, string, "inline" | "attachment"]>([
    ["an image", tinyPng(), "p.png", "image/png", "inline"],
    ["an image with a wrong declared type", tinyPng(), "p.html", "text/html", "inline"],
    ["plain text", "words", "t.txt", "text/plain", "inline"],
    ["a PDF", pdf, "d.pdf", "application/pdf", "inline"],
    ["audio", "ID3\x03\0\0\0\0\0\0", "a.mp3", "audio/mpeg", "inline"],
    ["SVG", svg, "p.svg", "image/svg+xml", "attachment"],
    ["HTML", html, "p.html", "text/html", "attachment"],
    ["XHTML", xhtml, "p.xhtml", "application/xhtml+xml", "attachment"],
    ["XML with a stylesheet", xslt, "p.xml", "text/xml", "attachment"],
    ["a script", "alert(1)", "p.js", "text/javascript", "attachment"],
    ["CSS", "body{}", "p.css", "text/css", "attachment"],
    ["an unknown type", new Uint8Array([1, 2, 3]), "x", "application/octet-stream", "attachment"],
    ["an invented type", "x", "x", "text/html-ish+xml", "attachment"],
    ["JSON", "{}", "x.json", "application/json", "attachment"],
  ])("of %s has a suitable type and disposition", async (_, content, name, type, disposition) => {
    const { client } = await server().signUp();
    const id = await client.storedId(content, { name, type });
    for (const query of ["?inline=true", "?inline=1", "?inline"]) {
      const response = await client.get(`/api/files/${id}/download${query}`);
      expectStatus(response, 200);
      expect(response.header("content-disposition").split(";")[0]).toBe(disposition);
      expect(response.header("x-content-type-options")).toBe("nosniff");
      const policy = response.header("content-security-policy");
      if (type === "application/pdf") expect(policy).not.toMatch(/\bsandbox\b/);
      else expect(policy).toMatch(/\bsandbox\b/);
      expect(policy).not.toMatch(/allow-scripts|unsafe-eval/);
    }
    const plain = await client.get(`/api/files/${id}/download`);
    expect(plain.header("content-disposition").split(";")[0]).toBe("attachment");
    const no = await client.get(`/api/files/${id}/download?inline=false`);
    expect(no.header("content-disposition").split(";")[0]).toBe("attachment");
  });

  test("never sends SVG inline that claims to be PNG", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(svg, { name: "p.png", type: "image/png" });
    const response = await client.get(`/api/files/${id}/download?inline=true`);
    const isInline = response.header("content-disposition").startsWith("inline");
    expect(isInline && /svg|xml|html/.test(response.header("content-type"))).toBe(false);
    expect(response.header("content-security-policy")).toMatch(/\bsandbox\b/);
  });

  test("shows HTML that claims to be plain text as text or not at all", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(html, { name: "p.txt", type: "text/plain" });
    const response = await client.get(`/api/files/${id}/download?inline=true`);
    const type = response.header("content-type").split(";")[0];
    const disposition = response.header("content-disposition").split(";")[0];
    expect(disposition === "attachment" || type === "text/plain").toBe(true);
    expect(response.header("content-security-policy")).toMatch(/\bsandbox\b/);
  });

  test("never sends a picture that is also a page as a page", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(new Uint8Array(gifPolyglot), { name: "p.html", type: "text/html" });
    const response = await client.get(`/api/files/${id}/download?inline=true`);
    expect(response.header("content-type")).toStartWith("image/gif");
  });

  test("accepts only booleans", async () => {
    expectError(await reader.client.get(`${path}?inline=maybe`), 400, "invalid_field", "inline");
  });
});

describe("the file name in Content-Disposition", () => {
  test.each([
    ["plain.txt", /filename="?plain\.txt"?/],
    ["with space.txt", /filename="with space\.txt"/],
    ["Ünïcödé €.txt", /filename\*=UTF-8''%C3%9Cn%C3%AFc%C3%B6d%C3%A9%20%E2%82%AC\.txt/i],
    ["emoji 🎉.txt", /filename\*=UTF-8''emoji%20%F0%9F%8E%89\.txt/i],
    ["שלום.txt", /filename\*=UTF-8''%D7%A9%D7%9C%D7%95%D7%9D\.txt/i],
    ["semi;colon, comma.txt", /filename="semi;colon, comma\.txt"/],
    ["100%25 sure.txt", /100%25|100%2525/],
  ])("%p is encoded by RFC 6266", async (name, pattern) => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt" });
    expectStatus(await client.put(`/api/files/${id}`, { name }), 200);
    const header = (await client.get(`/api/files/${id}/download`)).header("content-disposition");
    expect(header).toMatch(pattern);
    expect(header).toMatch(/^[\x20-\x7e]+$/);
  });

  test("cannot be escaped with quotes", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt" });
    const name = 'a"; filename="evil.exe';
    expectStatus(await client.put(`/api/files/${id}`, { name }), 200);
    const header = (await client.get(`/api/files/${id}/download`)).header("content-disposition");
    const unescaped = header.replaceAll(/\\./g, "_").replaceAll(/"[^"]*"/g, '""');
    expect(unescaped.match(/filename=/g)).toHaveLength(1);
    expect(header).not.toMatch(/[\r\n]/);
  });
});

test("HEAD returns the length of a large file without reading it", async () => {
  const { client } = await server().signUp();
  const sizeBytes = 32 * 1024 * 1024;
  const id = await client.storedId(new Uint8Array(sizeBytes), { name: "large.bin" });
  const bytesRead = async () => Number(/^rchar: (\d+)$/m.exec(await Bun.file(`/proc/${server().pid}/io`).text())?.[1]);
  const before = await bytesRead();
  const response = await client.head(`/api/files/${id}/download`);
  expectStatus(response, 200);
  expect(response.header("content-length")).toBe(String(sizeBytes));
  expect((await bytesRead()) - before).toBeLessThan(sizeBytes / 4);
});

testAllResponses(server);
