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

/** A photo of Vienna at noon in summer; each of another colour. */
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

const told = { location: "48.2082,16.3738", capturedAt: "2026-07-01T12:30:00+02:00" };

describe("an upload in one request", () => {
  test("answers 201 with the record, as files/upload", async () => {
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

  test("takes time and place from the photo where none are told, and lets what is told stand", async () => {
    const { client } = await newPhone();
    const bare = await send(client, [file("a.jpg", await photo())]);
    expect(bare.at("data")).toMatchObject({ metadata: told, capturedAt: told.capturedAt });
    const other = await send(client, [
      file("b.jpg", await photo()),
      field("location", "0,0"),
      field("capturedAt", "2020-01-01T00:00:00Z"),
    ]);
    expect(other.at("data")).toMatchObject({
      metadata: { location: "0,0", capturedAt: "2020-01-01T00:00:00Z" },
      capturedAt: "2020-01-01T00:00:00Z",
    });
    // Chunks tell the same.
    const content = await photo();
    const plan = await planUpload(client, content, { name: "c.jpg" }, { chunkSize: 1024 });
    await sendChunks(client, plan, content);
    const done = await completeUpload(client, plan.uploadId, { metadata: { location: "3,4" } });
    expect(done.at("data")).toMatchObject({
      mimeType: "image/jpeg",
      metadata: { location: "3,4", capturedAt: told.capturedAt },
      capturedAt: told.capturedAt,
    });
    // An ordinary upload says nothing of it.
    expect((await client.stored(await photo(), { name: "d.jpg" })).at("data.capturedAt")).toBeNull();
  });

  test("is no failure where the photo's own data are broken", async () => {
    const { client } = await newPhone();
    const broken = await photo();
    for (let at = 20; at < 300; at += 3) broken[at] = 255;
    expectStatus(await send(client, [file("broken.jpg", broken)]), 201);
    expectStatus(await send(client, [file("empty.jpg", "")]), 201);
  });

  test("honours Idempotency-Key", async () => {
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

  test("makes nothing twice: 200 with the file that is there", async () => {
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
    // The first answer for a key is its answer, status and all.
    for (const _ of [1, 2]) {
      const moved = await send(client, [...parts, automatic], headers);
      expectStatus(moved, 200);
      expect(moved.string("data.id")).toBe(id);
    }
    expect(await client.names("/Camera")).toEqual([]);
    expectStatus(await send(client, parts), 201);
  });

  test("tells an automatic backup what its user deleted", async () => {
    const { account, client } = await newPhone();
    const content = randomContent(100);
    const id = await account.client.storedId(content);
    expectStatus(await account.client.delete(`/api/files/${id}`), 200);
    expectError(await send(client, [file("a.bin", content), field("automatic", "true")]), 409, "deleted_by_you");
    expectStatus(await send(client, [file("a.bin", content)]), 201);
    expectStatus(await send(client, [file("a.bin", content), field("automatic", "true")]), 200);
  });

  test("refuses what is no form, no place, no time, no digest", async () => {
    const { client } = await newPhone();
    const refuse = async (part: Part, name: string) =>
      expectError(await send(client, [file("a", "x"), part]), 400, "invalid_field", name);
    await refuse(field("location", "here"), "location");
    await refuse(field("capturedAt", "now"), "capturedAt");
    await refuse(field("automatic", "perhaps"), "automatic");
    await refuse(field("checksum", "md5:1"), "checksum");
    expectError(await send(client, [file("a", "x"), field("checksum", checksumOf("y"))]), 400, "checksum_mismatch");
    expectError(await send(client, [file("a", "x"), field("folder", "a")]), 400, "invalid_path");
    expectError(await client.post("/api/mobile/upload", {}), 415, "unsupported_media_type");
    expect(await client.names()).toEqual([]);
  });

  test("is for devices that may write", async () => {
    const { account } = await newPhone();
    const parts = [file("a", "x")];
    expectError(await send(server().visitor, parts), 401, "missing_token");
    expectError(await send(account.client, parts), 401, "invalid_token");
    const viewer = await server().addUser(["--role", "viewer"]);
    const device = await registerDevice(server(), viewer);
    expectError(await send(device.client, parts), 403, "role");
  });

  test("obeys the plan and the quota", async () => {
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
