import { describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, checksumOf, Client, randomContent } from "../support/client.ts";
import { expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { tinyPng } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

interface Version {
  version: number;
  size: number;
  checksum: string;
  mimeType: string;
  createdAt: string;
  createdBy: { id: string; name: string } | null;
  isCurrent: boolean;
  downloadUrl: string;
}

/** Creates a file with the versions "one", "two" and "three". */
async function createFileOfThree(client: Client, folder = "/"): Promise<string> {
  const id = await client.storedId("one", { name: "notes.txt", fields: { folder } });
  for (const content of ["two", "three"]) expectStatus(await client.putContent(id, content), 200);
  return id;
}

async function listVersions(client: Client, id: string): Promise<Version[]> {
  const response = await client.get(`/api/files/${id}/versions`);
  expectStatus(response, 200);
  return response.list("data.versions") as Version[];
}

const readUsage = async (client: Client) =>
  (await client.get("/api/users/usage")).at("data.storage") as Record<string, number>;
const decodeText = (response: ApiResponse) => new TextDecoder().decode(response.bytes);

describe("the list of versions", () => {
  test("contains all versions, the newest first, with the current one marked", async () => {
    const { client, ...account } = await server().signUp();
    const id = await createFileOfThree(client);
    const versions = await listVersions(client, id);
    expect(versions.map(({ version, size, checksum, isCurrent }) => [version, size, checksum, isCurrent])).toEqual([
      [3, 5, checksumOf("three"), true],
      [2, 3, checksumOf("two"), false],
      [1, 3, checksumOf("one"), false],
    ]);
    const profile = await client.get("/api/users/profile");
    for (const { createdBy, createdAt, downloadUrl } of versions) {
      expect(createdBy).toEqual({ id: profile.string("data.id"), name: profile.string("data.name") });
      expect(createdAt).toMatch(timestampPattern);
      expect(new URL(downloadUrl).pathname).toMatch(new RegExp(`^/api/files/${id}/versions/[123]/download$`));
    }
    expect(account.email).toContain("@");
  });

  test("grows with an upload with onConflict=version and with a restore, and counts in the usage", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("a".repeat(10), { name: "a.txt" });
    const again = await client.stored("b".repeat(20), { name: "a.txt", fields: { onConflict: "version" } });
    expect([again.string("data.id"), again.at("data.version")]).toEqual([id, 2]);
    expectStatus(await client.post(`/api/files/${id}/versions/1/restore`), 200);
    expect((await listVersions(client, id)).map(({ size }) => size)).toEqual([10, 20, 10]);
    expect(await readUsage(client)).toMatchObject({ versions: 30, used: 40 });
  });

  test("is private to the owner", async () => {
    const { client } = await server().signUp();
    const id = await createFileOfThree(client);
    const { client: other } = await server().signUp();
    for (const response of [
      await other.get(`/api/files/${id}/versions`),
      await other.get(`/api/files/${id}/versions/1/download`),
      await other.head(`/api/files/${id}/versions/1/download`),
      await other.post(`/api/files/${id}/versions/1/restore`),
      await other.delete(`/api/files/${id}/versions/1`),
    ]) {
      expect(response.status).toBe(404);
    }
    expectError(await server().visitor.get(`/api/files/${id}/versions`), 401, "missing_token");
    expect(await listVersions(client, id)).toHaveLength(3);
  });

  test("is rejected for a folder, an unknown file or an invalid number", async () => {
    const { client } = await server().signUp();
    const id = await createFileOfThree(client);
    const folder = await client.folderId("docs");
    expectError(await client.get(`/api/files/${folder}/versions`), 404, "not_found");
    expectError(await client.get("/api/files/file_00000000000000000000/versions"), 404, "not_found");
    for (const number of ["0", "-1", "1.5", "x", "01", "1e1", "9".repeat(16)]) {
      expectError(await client.get(`/api/files/${id}/versions/${number}/download`), 400, "invalid_field", "version");
      expectError(await client.post(`/api/files/${id}/versions/${number}/restore`), 400, "invalid_field", "version");
      expectError(await client.delete(`/api/files/${id}/versions/${number}`), 400, "invalid_field", "version");
    }
    expectError(await client.get(`/api/files/${id}/versions/4/download`), 404, "not_found");
    expectError(await client.post(`/api/files/${id}/versions/4/restore`), 404, "not_found");
    expectError(await client.delete(`/api/files/${id}/versions/4`), 404, "not_found");
  });
});

describe("the content of a version", () => {
  test("is sent like a download: ETag, ranges, conditions, HEAD, names", async () => {
    const { client } = await server().signUp();
    const id = await createFileOfThree(client);
    const path = `/api/files/${id}/versions/2/download`;
    const whole = await client.get(path);
    expectStatus(whole, 200);
    expect(decodeText(whole)).toBe("two");
    const etag = `"${checksumOf("two").slice("sha256:".length)}"`;
    expect(whole.header("etag")).toBe(etag);
    expect(whole.header("content-disposition")).toContain('attachment; filename="notes.txt"');
    expect(whole.header("x-content-type-options")).toBe("nosniff");
    const [, second] = await listVersions(client, id);
    expect(Date.parse(whole.header("last-modified"))).toBe(
      Math.floor(Date.parse(second?.createdAt ?? "") / 1000) * 1000,
    );
    const range = await client.get(path, { range: "bytes=1-" });
    expectStatus(range, 206);
    expect([decodeText(range), range.header("content-range")]).toEqual(["wo", "bytes 1-2/3"]);
    expectStatus(await client.get(path, { range: "bytes=9-" }), 416);
    expectStatus(await client.get(path, { "if-none-match": etag }), 304);
    expectStatus(await client.get(path, { "if-match": '"other"' }), 412);
    const head = await client.head(path);
    expectStatus(head, 200);
    expect([head.header("content-length"), head.bytes.length]).toEqual(["3", 0]);
    expect((await client.get(`${path}?inline`)).header("content-disposition")).toContain("inline");
    expect(decodeText(await client.get(`/api/files/${id}/versions/3/download`))).toBe("three");
  });

  test("has its own thumbnail", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(tinyPng(4, 4, [200, 0, 0]), { name: "a.png", type: "image/png" });
    expectStatus(await client.putContent(id, "no picture any more", { "content-type": "text/plain" }), 200);
    const picture = await client.get(`/api/files/${id}/versions/1/download?thumbnail=true`);
    expectStatus(picture, 200);
    expect(picture.header("content-type")).toBe("image/webp");
    expect(decodeText(await client.get(`/api/files/${id}/download?thumbnail=true`))).toBe("no picture any more");
  });

  test("counts as a download", async () => {
    await withServer({ env: { LARDER_RATE_LIMITS: "on", LARDER_DEFAULT_PLAN: "free" } }, async (limited) => {
      const { client } = await limited.signUp();
      const id = await createFileOfThree(client);
      const response = await client.get(`/api/files/${id}/versions/1/download`);
      expect([response.header("x-ratelimit-resource"), response.status]).toEqual(["downloads", 200]);
      expect((await client.get(`/api/files/${id}`)).at("data.downloadCount")).toBe(1);
      const restored = await client.post(`/api/files/${id}/versions/1/restore`);
      expect(restored.header("x-ratelimit-resource")).toBe("operations");
    });
  });
});

describe("restoring a version", () => {
  test("creates a new version with the old content, and appears in sync", async () => {
    const account = await server().signUp();
    const { client } = account;
    const id = await createFileOfThree(client);
    const device = await registerDevice(server(), account);
    const token = (await device.client.get("/api/mobile/sync/status")).string("data.nextSyncToken");
    const response = await client.post(`/api/files/${id}/versions/1/restore`);
    expectStatus(response, 200);
    expect(response.at("data")).toMatchObject({
      id,
      version: 4,
      size: 3,
      checksum: checksumOf("one"),
      name: "notes.txt",
    });
    expect(decodeText(await client.get(`/api/files/${id}/download`))).toBe("one");
    expect((await listVersions(client, id)).map(({ version, isCurrent }) => [version, isCurrent])).toEqual([
      [4, true],
      [3, false],
      [2, false],
      [1, false],
    ]);
    const status = await device.client.get(`/api/mobile/sync/status?syncToken=${encodeURIComponent(token)}`);
    expect(status.text).toContain(id);
  });

  test("of the current version changes nothing, and of one with the same bytes creates another", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("same", { name: "a.txt" });
    expectStatus(await client.putContent(id, "same"), 200);
    expect((await client.post(`/api/files/${id}/versions/2/restore`)).at("data.version")).toBe(2);
    expect((await client.post(`/api/files/${id}/versions/1/restore`)).at("data.version")).toBe(3);
  });

  test("supports If-Match with the current version's ETag", async () => {
    const { client } = await server().signUp();
    const id = await createFileOfThree(client);
    const path = `/api/files/${id}/versions/1/restore`;
    const etagOf = (content: string) => `"${checksumOf(content).slice("sha256:".length)}"`;
    expectError(await client.post(path, undefined, { "if-match": etagOf("one") }), 412, "precondition_failed");
    expectStatus(await client.post(path, undefined, { "if-match": etagOf("three") }), 200);
  });

  test("requires space in the quota", async () => {
    const { client } = await server().addUser(["--quota", "1000000"]);
    const id = await client.storedId(randomContent(600_000), { name: "a.bin" });
    expectStatus(await client.putContent(id, "small"), 200);
    const refused = await client.post(`/api/files/${id}/versions/1/restore`);
    expectError(refused, 413, "quota_exceeded");
    expect(refused.at("error.details.plan")).toBe("enterprise");
    expect((await client.get(`/api/files/${id}`)).at("data.version")).toBe(2);
  });
});

describe("deleting a version", () => {
  test("frees its bytes at once, and keeps the other versions and their numbers", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x".repeat(1_000), { name: "a.txt" });
    for (const size of [200, 30]) expectStatus(await client.putContent(id, "y".repeat(size)), 200);
    expect((await readUsage(client))["versions"]).toBe(1_200);
    const deleted = await client.delete(`/api/files/${id}/versions/1`);
    expectStatus(deleted, 200);
    expect(deleted.at("data")).toEqual({ id, version: 1, deletedAt: expect.stringMatching(timestampPattern) });
    expect(await readUsage(client)).toMatchObject({ versions: 200, used: 230 });
    expect((await listVersions(client, id)).map(({ version }) => version)).toEqual([3, 2]);
    expectError(await client.delete(`/api/files/${id}/versions/1`), 404, "not_found");
    expectError(await client.get(`/api/files/${id}/versions/1/download`), 404, "not_found");
  });

  test("is rejected for the current one", async () => {
    const { client } = await server().signUp();
    const id = await createFileOfThree(client);
    expectError(await client.delete(`/api/files/${id}/versions/3`), 409, "version_conflict");
    expect(await listVersions(client, id)).toHaveLength(3);
  });

  test("keeps content that another file has", async () => {
    const { client } = await server().signUp();
    const content = randomContent(500);
    const id = await client.storedId(content, { name: "a.bin" });
    const twin = await client.storedId(content, { name: "b.bin" });
    expectStatus(await client.putContent(id, "new"), 200);
    expectStatus(await client.delete(`/api/files/${id}/versions/1`), 200);
    expect(checksumOf((await client.get(`/api/files/${twin}/download`)).bytes)).toBe(checksumOf(content));
  });
});

test("a viewer can list and download versions, but change none", async () => {
  const account: Account = await server().addUser([]);
  const id = await createFileOfThree(account.client);
  await server().larder(["user", "set", account.email, "--role", "viewer"]);
  const { email, password } = account;
  const response = await server().visitor.post("/api/auth/signin", { email, password });
  const viewer = new Client(server(), response.string("token"));
  expect(await listVersions(viewer, id)).toHaveLength(3);
  expectStatus(await viewer.get(`/api/files/${id}/versions/1/download`), 200);
  expectError(await viewer.post(`/api/files/${id}/versions/1/restore`), 403, "role");
  expectError(await viewer.delete(`/api/files/${id}/versions/1`), 403, "role");
});

test("the number of retained versions follows the configuration until the user sets it", async () => {
  await withServer({ env: { LARDER_VERSIONS_KEEP: "3" } }, async (own) => {
    const { client } = await own.signUp();
    expect((await client.get("/api/users/settings")).at("data.versioning.keep")).toBe(3);
    expect((await client.put("/api/users/settings", { theme: "dark" })).at("data.versioning.keep")).toBe(3);
    expect((await client.put("/api/users/settings", { versioning: { keep: 7 } })).at("data.versioning.keep")).toBe(7);
    expect((await client.get("/api/users/settings")).at("data.versioning.keep")).toBe(7);
  });
});

testAllResponses(server);
