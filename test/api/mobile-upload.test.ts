import { describe, expect, test } from "bun:test";
import sharp from "sharp";
import { type Account, type ApiResponse, type Client, checksumOf, randomContent } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { field, file, form, formType, type Part } from "../support/multipart.ts";
import { sharedServer, withServer } from "../support/server.ts";
import { completeUpload, planUpload, sendChunks } from "../support/uploads.ts";

const server = sharedServer({ hasAccounts: true });

async function newPhone(target = server()): Promise<{ account: Account; client: Client }> {
  const account = await target.signUp();
  return { account, client: (await registerDevice(target, account)).client };
}

async function send(client: Client, parts: Part[], headers: Record<string, string> = {}): Promise<ApiResponse> {
  return client.request("POST", "/api/mobile/upload", {
    body: form(parts),
    headers: { "content-type": formType, ...headers },
  });
}

let photos = 0;

/** A photo with location and time, in a different color each time. */
async function photo(): Promise<Uint8Array<ArrayBuffer>> {
  const picture = sharp({
    create: { width: 32, height: 32, channels: 3, background: { r: (photos++ * 8) % 256, g: 1, b: 2 } },
  });
  const tags = {
    IFD2: { DateTimeOriginal: "2026:07:01 12:30:00", OffsetTimeOriginal: "+02:00" },
    IFD3: {
      GPSLatitudeRef: "N",
      GPSLatitude: "48/1 12/1 2952/100",
      GPSLongitudeRef: "E",
      GPSLongitude: "16/1 22/1 2568/100",
    },
  };
  return new Uint8Array(await picture.withExif(tags).jpeg().toBuffer());
}

const photoMetadata = { location: "48.2082,16.3738", capturedAt: "2026-07-01T12:30:00+02:00" };

describe("an upload in one request", () => {
  test("returns 201 with the record, like files/upload", async () => {
    const { client } = await newPhone();
    const content = randomContent(2000);
    const response = await send(client, [
      field("folder", "/camera"),
      file("IMG_1.bin", content),
      field("tags", "a,b"),
      field("location", "1.5,-2.5"),
      field("capturedAt", "2026-01-02T03:04:05-05:00"),
      field("checksum", checksumOf(content)),
    ]);
    expectStatus(response, 201);
    expect(response.at("data")).toMatchObject({
      name: "IMG_1.bin",
      folder: "/camera",
      size: 2000,
      tags: ["a", "b"],
      checksum: checksumOf(content),
      metadata: { location: "1.5,-2.5", capturedAt: "2026-01-02T03:04:05-05:00" },
      capturedAt: "2026-01-02T03:04:05-05:00",
      version: 1,
    });
    expect(await client.names("/camera")).toEqual(["IMG_1.bin"]);
  });

  test("uses time and location of the photo unless the request has them", async () => {
    const { client } = await newPhone();
    const bare = await send(client, [file("a.jpg", await photo())]);
    expect(bare.at("data")).toMatchObject({ metadata: photoMetadata, capturedAt: photoMetadata.capturedAt });
    const other = await send(client, [
      file("b.jpg", await photo()),
      field("location", "0,0"),
      field("capturedAt", "2020-01-01T00:00:00Z"),
    ]);
    expect(other.at("data")).toMatchObject({
      metadata: { location: "0,0", capturedAt: "2020-01-01T00:00:00Z" },
      capturedAt: "2020-01-01T00:00:00Z",
    });
    // The same applies to chunked uploads.
    const content = await photo();
    const plan = await planUpload(client, content, { name: "c.jpg" }, { chunkSize: 1024 });
    await sendChunks(client, plan, content);
    const done = await completeUpload(client, plan.uploadId, { metadata: { location: "3,4" } });
    expect(done.at("data")).toMatchObject({
      mimeType: "image/jpeg",
      metadata: { location: "3,4", capturedAt: photoMetadata.capturedAt },
      capturedAt: photoMetadata.capturedAt,
    });
    // Other uploads do not read the photo.
    expect((await client.stored(await photo(), { name: "d.jpg" })).at("data.capturedAt")).toBeNull();
  });

  test("succeeds if the metadata of the photo is invalid", async () => {
    const { client } = await newPhone();
    const broken = await photo();
    for (let at = 20; at < 300; at += 3) broken[at] = 255;
    expectStatus(await send(client, [file("broken.jpg", broken)]), 201);
    expectStatus(await send(client, [file("empty.jpg", "")]), 201);
  });

  test("supports Idempotency-Key", async () => {
    const { client } = await newPhone();
    const content = randomContent(100);
    const headers = { "idempotency-key": "once-1" };
    const first = await send(client, [file("a.bin", content)], headers);
    const again = await send(client, [file("a.bin", content)], headers);
    expectStatus(again, 201);
    expect(again.string("data.id")).toBe(first.string("data.id"));
    expect(await client.names()).toEqual(["a.bin"]);
    expectError(await send(client, [file("b.bin", content)], headers), 409, "idempotency_key");
  });

  test("returns 200 with the existing file if it is repeated", async () => {
    const { account, client } = await newPhone();
    const content = randomContent(100);
    const parts = [field("folder", "/Camera"), file("a.bin", content)];
    const automatic = field("automatic", "true");
    const headers = { "idempotency-key": "again" };
    const first = await send(client, [...parts, automatic]);
    expectStatus(first, 201);
    const id = first.string("data.id");
    for (const extra of [[], [automatic], [field("onConflict", "rename")]]) {
      const again = await send(client, [...parts, ...extra]);
      expectStatus(again, 200);
      expect(again.at("data")).toMatchObject({ id, version: 1 });
    }
    expectStatus(await account.client.put(`/api/files/${id}`, { folder: "/Albums", name: "b.bin" }), 200);
    // A repeated key returns the first response with its status.
    for (const _ of [1, 2]) {
      const moved = await send(client, [...parts, automatic], headers);
      expectStatus(moved, 200);
      expect(moved.string("data.id")).toBe(id);
    }
    expect(await client.names("/Camera")).toEqual([]);
    expectStatus(await send(client, parts), 201);
  });

  test("rejects files that the user deleted if the backup is automatic", async () => {
    const { account, client } = await newPhone();
    const content = randomContent(100);
    const id = await account.client.storedId(content);
    expectStatus(await account.client.delete(`/api/files/${id}`), 200);
    expectError(await send(client, [file("a.bin", content), field("automatic", "true")]), 409, "deleted_by_you");
    expectStatus(await send(client, [file("a.bin", content)]), 201);
    expectStatus(await send(client, [file("a.bin", content), field("automatic", "true")]), 200);
  });

  test("rejects invalid forms, locations, times and checksums", async () => {
    const { client } = await newPhone();
    const expectInvalid = async (part: Part, name: string) =>
      expectError(await send(client, [file("a", "x"), part]), 400, "invalid_field", name);
    await expectInvalid(field("location", "here"), "location");
    await expectInvalid(field("capturedAt", "now"), "capturedAt");
    await expectInvalid(field("automatic", "perhaps"), "automatic");
    await expectInvalid(field("checksum", "md5:1"), "checksum");
    expectError(await send(client, [file("a", "x"), field("checksum", checksumOf("y"))]), 400, "checksum_mismatch");
    expectError(await send(client, [file("a", "x"), field("folder", "a")]), 400, "invalid_path");
    expectError(await client.post("/api/mobile/upload", {}), 415, "unsupported_media_type");
    expect(await client.names()).toEqual([]);
  });

  test("is only for devices of accounts that can write", async () => {
    const { account } = await newPhone();
    const parts = [file("a", "x")];
    expectError(await send(server().visitor, parts), 401, "missing_token");
    expectError(await send(account.client, parts), 401, "invalid_token");
    const viewer = await server().addUser(["--role", "viewer"]);
    const device = await registerDevice(server(), viewer);
    expectError(await send(device.client, parts), 403, "role");
  });

  test("is limited by the plan and the quota", async () => {
    const env = { LARDER_PLANS_ENTERPRISE_QUOTA: "5000", LARDER_PLANS_ENTERPRISE_MAX_FILE_SIZE: "3000" };
    await withServer({ env }, async (own) => {
      const { client } = await newPhone(own);
      expectError(await send(client, [file("a", randomContent(3001))]), 413, "file_too_large");
      expectStatus(await send(client, [file("a", randomContent(3000))]), 201);
      expectError(await send(client, [file("b", randomContent(2500))]), 413, "quota_exceeded");
    });
  });

  test("counts as an upload", async () => {
    const { client } = await newPhone();
    const response = await send(client, [file("a", "x")]);
    expect(response.header("x-ratelimit-resource")).toBe("uploads");
  });
});

testAllResponses(server);
