import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { checksumOf, randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { field, file, form, formType } from "../support/multipart.ts";
import { RawConnection, rawRequest } from "../support/raw-http.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer();
const content = randomContent(5_000_000);

/** Every file below a folder of the data directory, except the store journal, which is written in the background. */
async function filesBelow(name: string): Promise<string[]> {
  const folder = join(server().dataDir, name);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes("/blobs/journal/"))
    .sort();
}

/** Sends the head of a request and a part of its body, closes the connection, and waits until the server has cleaned up. */
async function cutAfter(lines: string[], body: Uint8Array, bytes: number): Promise<void> {
  const connection = await RawConnection.open(server().port);
  await connection.write(rawRequest(lines));
  await connection.write(body.subarray(0, bytes));
  if (bytes > 100_000)
    await eventually("the upload has begun", async () => (await filesBelow("blobs/incoming")).length > 0, 2000).catch(
      () => undefined,
    );
  connection.cut();
  await eventually("nothing is staged any more", async () => (await filesBelow("blobs/incoming")).length === 0);
}

/** The lengths at which a body is cut: 0, each tenth, and all but the last byte. */
function cuts(length: number): number[] {
  return [0, ...Array.from({ length: 9 }, (_, index) => Math.floor((length * (index + 1)) / 10)), length - 1];
}

describe("a cut upload leaves nothing behind", () => {
  test.each(["Content-Length", "chunked"])(
    "as a new file, with %s",
    async (framing) => {
      const { client, token } = await server().signUp();
      await client.stored("other", { name: "other.txt" });
      const body = form([field("folder", "/new"), file("torso.bin", content)]);
      const before = {
        listing: (await client.get("/api/files?recursive=true")).text,
        blobs: await filesBelow("blobs"),
      };
      const usage = (await client.get("/api/users/usage")).at("data.storage");
      for (const bytes of cuts(body.length)) {
        const lines = [
          "POST /api/files/upload HTTP/1.1",
          "Host: larder.test",
          `Authorization: Bearer ${token}`,
          `Content-Type: ${formType}`,
          framing === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`,
        ];
        const sent =
          framing === "chunked" ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body]) : body;
        await cutAfter(lines, sent, bytes);
        expect((await client.get("/api/files?recursive=true")).text).toBe(before.listing);
        expect(await filesBelow("blobs")).toEqual(before.blobs);
      }
      expect((await client.get("/api/users/usage")).at("data.storage")).toEqual(usage);
    },
    120_000,
  );

  test("as a new version by upload; the old one stays intact", async () => {
    const { client, token } = await server().signUp();
    const id = await client.storedId("old content", { name: "keepass.kdbx" });
    const body = form([field("onConflict", "version"), file("keepass.kdbx", content)]);
    const look = async () => ({
      info: { ...Object((await client.get(`/api/files/${id}`)).at("data")), downloadCount: 0, lastAccessedAt: "" },
      listing: (await client.get("/api/files")).list("data.files").length,
      blobs: await filesBelow("blobs"),
      etag: (await client.head(`/api/files/${id}/download`)).header("etag"),
      text: (await client.get(`/api/files/${id}/download`)).text,
    });
    const before = await look();
    for (const bytes of cuts(body.length)) {
      const lines = [
        "POST /api/files/upload HTTP/1.1",
        "Host: larder.test",
        `Authorization: Bearer ${token}`,
        `Content-Type: ${formType}`,
        `Content-Length: ${body.length}`,
      ];
      await cutAfter(lines, body, bytes);
      expect(await look()).toEqual(before);
    }
  }, 120_000);

  test("as new content by PUT; the old one stays intact", async () => {
    const { client, token } = await server().signUp();
    const id = await client.storedId("old content", { name: "a.bin" });
    const blobs = await filesBelow("blobs");
    const row = async () => {
      const [item] = (await client.get("/api/files")).list("data.files");
      return item;
    };
    const before = await row();
    for (const bytes of cuts(content.length)) {
      const lines = [
        `PUT /api/files/${id}/content HTTP/1.1`,
        "Host: larder.test",
        `Authorization: Bearer ${token}`,
        "Content-Type: application/octet-stream",
        `Content-Length: ${content.length}`,
      ];
      await cutAfter(lines, content, bytes);
      expect(await row()).toEqual(before);
      expect((await client.get(`/api/files/${id}/download`)).text).toBe("old content");
      expect(await filesBelow("blobs")).toEqual(blobs);
    }
  }, 120_000);

  test("by a wrong checksum, for new files and replacements", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("old", { name: "a.txt" });
    const blobs = await filesBelow("blobs");
    const fields = { checksum: checksumOf("something else"), onConflict: "version" };
    for (const name of ["a.txt", "new.txt"]) {
      expectError(await client.upload("torn content", { name, fields }), 400, "checksum_mismatch");
      expect(await client.names()).toEqual(["a.txt"]);
      expect((await client.get(`/api/files/${id}/download`)).text).toBe("old");
      expect(await filesBelow("blobs/incoming")).toEqual([]);
      expect(await filesBelow("blobs")).toEqual(blobs);
    }
  });

  test("when repeated many times; the next complete upload is accepted", async () => {
    const { client, token } = await server().signUp();
    const body = form([file("a.bin", content)]);
    const lines = [
      "POST /api/files/upload HTTP/1.1",
      "Host: larder.test",
      `Authorization: Bearer ${token}`,
      `Content-Type: ${formType}`,
      `Content-Length: ${body.length}`,
    ];
    await Promise.all(Array.from({ length: 12 }, (_, index) => cutAfter(lines, body, 100_000 * (index + 1))));
    expect(await client.names()).toEqual([]);
    const response = await client.upload(content, { name: "a.bin" });
    expectStatus(response, 201);
    expect(response.at("data.checksum")).toBe(checksumOf(content));
  });
});
