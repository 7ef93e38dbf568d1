import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { toBytes, randomContent } from "../support/client.ts";
import { expectClientError, expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { boundary, field, file, form, formType } from "../support/multipart.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const disposition = 'Content-Disposition: form-data; name="file"; filename="a.txt"';
const whole = `--${boundary}\r\n${disposition}\r\n\r\ncontent\r\n--${boundary}--\r\n`;

/** Malformed forms: the content type and the body. */
const wrong: [string, string, string | Uint8Array][] = [
  ["an empty body", formType, ""],
  ["no boundary in the type", "multipart/form-data", whole],
  ["an empty boundary", "multipart/form-data; boundary=", whole],
  ["another boundary than the body's", "multipart/form-data; boundary=other", whole],
  ["a boundary of a thousand characters", `multipart/form-data; boundary=${"b".repeat(1000)}`, whole],
  ["no closing boundary", formType, whole.replace(`--${boundary}--\r\n`, "")],
  ["a truncated closing boundary", formType, whole.slice(0, -8)],
  ["the body cut in the content", formType, whole.slice(0, -boundary.length - 12)],
  ["the body cut in the part's headers", formType, whole.slice(0, boundary.length + 20)],
  ["the body cut after the first boundary", formType, `--${boundary}\r\n`],
  ["only the closing boundary", formType, `--${boundary}--\r\n`],
  ["text without any boundary", formType, "just some text"],
  ["random bytes", formType, randomContent(100_000)],
  ["a part without headers", formType, `--${boundary}\r\n\r\ncontent\r\n--${boundary}--\r\n`],
  [
    "a part without Content-Disposition",
    formType,
    `--${boundary}\r\nContent-Type: text/plain\r\n\r\nx\r\n--${boundary}--\r\n`,
  ],
  ["a part without name", formType, whole.replace('name="file"; ', "")],
  ["an attachment instead of form-data", formType, whole.replace("form-data", "attachment")],
  ["a disposition that is rubbish", formType, whole.replace(disposition, 'Content-Disposition: ;;;==="')],
  ["an empty file name", formType, whole.replace("a.txt", "")],
  ["part headers of 100 kB", formType, whole.replace(disposition, `${disposition}\r\nX-Long: ${"y".repeat(100_000)}`)],
  ["ten thousand part headers", formType, whole.replace(disposition, `${disposition}${"\r\nX-A: b".repeat(10_000)}`)],
  [
    "a header line without colon",
    formType,
    whole.replace(disposition, `nonsense\r\n${disposition.replace("file", "other")}`),
  ],
  ["two files", formType, form([file("a.txt", "a"), file("b.txt", "b")])],
  ["a text field of 2 MB", formType, form([field("description", "x".repeat(2_000_000)), file("a.txt", "x")])],
  [
    "a hundred thousand fields",
    formType,
    form([...Array.from({ length: 100_000 }, (_, i) => field(`f${i}`, "x")), file("a.txt", "x")]),
  ],
  ["a folder that is a file part", formType, form([file("x", "/a", undefined, "folder"), file("a.txt", "x")])],
];

describe("a form with", () => {
  test.each(wrong)("%s is 4xx and leaves nothing behind", async (_, type, body) => {
    const { client } = await server().signUp();
    const response = await client.request("POST", "/api/files/upload", {
      body: toBytes(body),
      headers: { "content-type": type },
    });
    expectClientError(response);
    expect(await client.names()).toEqual([]);
    expect((await client.get("/api/users/usage")).number("data.storage.used")).toBe(0);
    const uploads = await readdir(join(server().dataDir, "uploads"), { recursive: true, withFileTypes: true });
    expect(uploads.filter((entry) => entry.isFile())).toEqual([]);
  });

  test.each([
    "application/json",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/mixed; boundary=x",
    "",
    "nonsense",
  ])("the content type %p is 415", async (type) => {
    const { client } = await server().signUp();
    const response = await client.request("POST", "/api/files/upload", {
      body: toBytes(whole),
      headers: type === "" ? {} : { "content-type": type },
    });
    expectError(response, 415, "unsupported_media_type");
    expect(await client.names()).toEqual([]);
  });
});

describe("a form is taken with", () => {
  test.each<[string, string, string]>([
    ["a preamble and an epilogue", formType, `This is a preamble.\r\n${whole}This is an epilogue.`],
    ["a boundary in quotes", `multipart/form-data; boundary="${boundary}"`, whole],
    ["the type in mixed case", `Multipart/Form-Data; Boundary=${boundary}`, whole],
    ["a charset in addition to the boundary", `multipart/form-data; charset=utf-8; boundary=${boundary}`, whole],
    ["headers in other letters", formType, whole.replace("Content-Disposition", "CONTENT-disposition")],
    ["parameters without quotes", formType, whole.replaceAll('name="file"', "name=file").replace('"a.txt"', "a.txt")],
    [
      "the filename before the name",
      formType,
      whole.replace(disposition, 'Content-Disposition: form-data; filename="a.txt"; name="file"'),
    ],
    ["spaces after the boundary", formType, whole.replace(`--${boundary}\r\n`, `--${boundary}  \r\n`)],
    ["no line end after the last boundary", formType, whole.slice(0, -2)],
    ["an unknown part header", formType, whole.replace(disposition, `X-Odd: 1\r\n${disposition}`)],
  ])("%s", async (_, type, body) => {
    const { client } = await server().signUp();
    const response = await client.request("POST", "/api/files/upload", { body, headers: { "content-type": type } });
    expectStatus(response, 201);
    expect(response.at("data.name")).toBe("a.txt");
    expect((await client.get(`/api/files/${response.string("data.id")}/download`)).text).toBe("content");
  });

  test("the file name percent-encoded, as browsers do with quotes", async () => {
    const { client } = await server().signUp();
    const body = new FormData();
    body.append("file", new File(["x"], 'say "hi".txt'));
    const response = await client.request("POST", "/api/files/upload", { body });
    expectStatus(response, 201);
    expect(response.at("data.name")).toBe('say "hi".txt');
  });

  test("content cut by the network at every position", async () => {
    const { client } = await server().signUp();
    const bytes = form([field("folder", "/x"), file("a.bin", "\r\n--".repeat(20)), field("tags", "t")]);
    for (let cut = 1; cut < bytes.length; cut += 7) {
      const stream = new ReadableStream<Uint8Array>({
        start: (controller) => {
          controller.enqueue(bytes.slice(0, cut));
        },
        pull: (controller) => {
          controller.enqueue(bytes.slice(cut));
          controller.close();
        },
      });
      const response = await client.request("POST", "/api/files/upload", {
        body: stream,
        headers: { "content-type": formType },
      });
      expectStatus(response, 201);
      expect(response.json).toMatchObject({ data: { size: 80, folder: "/x", tags: ["t"] } });
    }
  });
});

testAllResponses(server);
