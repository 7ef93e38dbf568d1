import { expect, test } from "bun:test";
import { type ApiResponse, checksumOf, type Client, randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { RawConnection } from "../support/raw-http.ts";
import { sharedServer, withServer } from "../support/server.ts";
import { appendTus, tryCreateTus, headTus, createTus, sendByClient, tusVersion } from "../support/tus.ts";

const server = sharedServer({ hasAccounts: true });

/**
 * Creates a drop box over the folder `/box`.
 * @returns its folder, share id and token, and the path of its tus uploads
 */
async function createDropBox(client: Client, settings: object = {}) {
  const folder = await client.folderId("box");
  const made = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload", ...settings });
  expectStatus(made, 201);
  const token = made.string("data.token");
  return { folder, id: made.string("data.id"), token, home: `/api/public/${token}/tus` };
}

async function usedBytes(client: Client): Promise<number> {
  return (await client.get("/api/users/usage")).number("data.storage.used");
}

for (const [title, options] of [
  ["in many requests", { chunkSize: 400_000 }],
  ["in parallel, joined", { parallelUploads: 3 }],
  ["with the first request", { uploadDataDuringCreation: true }],
] as const) {
  test(`a guest sends a file into a drop box ${title}`, async () => {
    const { client } = await server().signUp();
    const { id, home } = await createDropBox(client);
    const content = randomContent(1_200_000);
    const { fileId } = await sendByClient(server().visitor, content, {
      ...options,
      endpoint: server().url + home,
      metadata: { filename: "from ana.bin", sender: "Ana", folder: "/elsewhere", tags: "no" },
    });
    // The guest learns nothing about the owner's account.
    expect(fileId).toBeUndefined();
    const list = await client.get("/api/files?folder=/box");
    expect(list.at("data.files.0")).toMatchObject({
      name: "from ana.bin",
      folder: "/box",
      tags: [],
      metadata: { sender: "Ana" },
      checksum: checksumOf(content),
    });
    expect((await client.get(`/api/shares/${id}`)).at("data")).toMatchObject({
      uploads: 1,
      uploadedBytes: content.length,
    });
    expect(await usedBytes(client)).toBe(content.length);
  });
}

test("unfinished uploads of guests count toward the byte limit of a drop box", async () => {
  const { client } = await server().signUp();
  const { home } = await createDropBox(client, { maxUploadBytes: 10 });
  const { visitor } = server();
  const one = await createTus(visitor, 8, {}, { home });
  const other = await createTus(visitor, 8, {}, { home });
  expectStatus(await appendTus(visitor, one, 0, "1234567"), 204);
  expectError(await appendTus(visitor, other, 0, "1234567"), 413, "file_too_large");
  expect(await usedBytes(client)).toBeLessThanOrEqual(10);
  // Without the first upload, there is enough space.
  expectStatus(await visitor.request("DELETE", one, { headers: tusVersion }), 204);
  expectStatus(await appendTus(visitor, other, 0, "12345678"), 204);
  expect(await client.names("/box")).toHaveLength(1);
});

test("a guest continues an upload only at its URL", async () => {
  const { client } = await server().signUp();
  const box = await createDropBox(client);
  const other = await server().signUp();
  const otherBox = await createDropBox(other.client);
  const guest = server().visitor;
  const path = await createTus(guest, 6, { filename: "a.txt" }, { home: box.home });
  const id = path.slice(path.lastIndexOf("/") + 1);
  expect(path.startsWith(`${box.home}/`)).toBe(true);
  expectStatus(await appendTus(guest, path, 0, "abc"), 204);
  expect((await guest.get(path)).at("data")).toMatchObject({ offset: 3, length: 6, file: null });
  // Through another link, or through an account (even the owner's), the upload is not found.
  expectStatus(await headTus(guest, `${otherBox.home}/${id}`), 404);
  for (const account of [client, other.client]) expectStatus(await headTus(account, `/api/tus/${id}`), 404);
  expectStatus(await headTus(guest, `${box.home}/tus_${"x".repeat(32)}`), 404);
  expect((await client.get("/api/tus")).at("data.uploads")).toEqual([]);
  expectStatus(await appendTus(guest, path, 3, "def"), 204);
  expect((await guest.get(path)).at("data.file")).toBeNull();
  expect(await client.names("/box")).toEqual(["a.txt"]);
});

test("a locked drop box requires its password with each request, and a deleted one rejects them", async () => {
  const { client } = await server().signUp();
  const { id, token, home } = await createDropBox(client, { password: "open sesame" });
  const guest = server().visitor;
  expectError(await tryCreateTus(guest, { "upload-length": "3" }, {}, { home }), 401, "password_required");
  const unlocked = await guest.post(`/api/public/${token}/unlock`, { password: "open sesame" });
  const grant = { "x-share-grant": unlocked.string("data.grant") };
  const path = await createTus(guest, 3, {}, { home, headers: grant });
  expectError(await appendTus(guest, path, 0, "abc"), 401, "password_required");
  expectStatus(await appendTus(guest, path, 0, "a", grant), 204);
  expectStatus(await client.delete(`/api/shares/${id}`), 200);
  expectError(await appendTus(guest, path, 1, "bc", grant), 404, "not_found");
  expect(await client.names("/box")).toEqual([]);
});

test("links other than drop boxes accept no uploads", async () => {
  const { client } = await server().signUp();
  const folder = await client.folderId("shown");
  const made = await client.post(`/api/files/folders/${folder}/shares`, {});
  const home = `/api/public/${made.string("data.token")}/tus`;
  const refused = await tryCreateTus(server().visitor, { "upload-length": "1" }, {}, { home });
  expectError(refused, 403, "share_permission");
  const unknown = await tryCreateTus(
    server().visitor,
    { "upload-length": "1" },
    {},
    { home: "/api/public/nothing/tus" },
  );
  expectError(unknown, 404, "not_found");
});

test("the byte limit of a drop box is never exceeded", async () => {
  const { client } = await server().signUp();
  const { home } = await createDropBox(client, { maxUploadBytes: 10 });
  const guest = server().visitor;
  const begin = (length: number) => tryCreateTus(guest, { "upload-length": String(length) }, {}, { home });
  expectError(await begin(11), 413, "file_too_large");
  const [one, two] = [await createTus(guest, 6, {}, { home }), await createTus(guest, 6, {}, { home })];
  expectStatus(await appendTus(guest, one, 0, "123456"), 204);
  const refused = await appendTus(guest, two, 0, "123456");
  expectError(refused, 413, "file_too_large");
  expect(await client.names("/box")).toEqual(["file"]);
  const deferred = await tryCreateTus(guest, { "upload-defer-length": "1" }, {}, { home });
  expectError(await appendTus(guest, deferred.header("location"), 0, "12345"), 413, "file_too_large");
});

test("a declared length uses no quota of the owner, and only received bytes count", async () => {
  await withServer({ env: { LARDER_DEFAULT_PLAN: "free" } }, async (own) => {
    const { client } = await own.signUp();
    const { home } = await createDropBox(client);
    const begin = (length: number): Promise<ApiResponse> =>
      tryCreateTus(own.visitor, { "upload-length": String(length) }, {}, { home });
    const large = await begin(999_999_999_999);
    expectError(large, 413, "file_too_large");
    const most = large.number("error.details.limit");
    const first = (await begin(most)).header("location");
    for (let count = 1; count < 20; count++) expectStatus(await begin(most), 201);
    // One address may have 20 uploads per link. None is evicted, as they were all created just now.
    expectError(await begin(most), 503, "overloaded");
    expectStatus(await own.visitor.request("DELETE", first, { headers: tusVersion }), 204);
    expect(await usedBytes(client)).toBe(0);
    await client.storedId("mine");
    const path = (await begin(1_000)).header("location");
    expectStatus(await appendTus(own.visitor, path, 0, randomContent(500)), 204);
    expect(await usedBytes(client)).toBe(1_004);
    expectStatus(await own.visitor.request("DELETE", path, { headers: tusVersion }), 204);
    expect(await usedBytes(client)).toBe(4);
  });
});

test("guests with one address can't use all upload slots of a drop box, even with active uploads", async () => {
  // One address could once use half of the slots, so that two addresses filled a drop box.
  await withServer({ env: { LARDER_TRUSTED_PROXIES: "127.0.0.1,::1" } }, async (own) => {
    const { client } = await own.signUp();
    const { home, id } = await createDropBox(client);
    const begin = (address: string, bytes?: string): Promise<ApiResponse> => {
      const headers = { "upload-length": "3", "x-forwarded-for": address };
      return tryCreateTus(own.visitor, headers, {}, { home, ...(bytes !== undefined && { bytes }) });
    };
    const readLimit = async () => (await client.get(`/api/shares/${id}`)).at("data.maxUploadsPerAddress");
    const paths: string[] = [];
    for (let count = 0; count < 20; count++) paths.push((await begin("203.0.113.1", "a")).header("location"));
    expectError(await begin("203.0.113.1", "a"), 503, "overloaded");
    // IPv6 addresses of one /64 network count together, also in concurrent requests.
    const home6 = Array.from({ length: 25 }, (_, at) => begin(`2001:db8:1:2::${(at + 1).toString(16)}`, "a"));
    const statuses = (await Promise.all(home6)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    expect(statuses.filter((status) => status === 503)).toHaveLength(5);
    for (const path of paths) expectStatus(await headTus(own.visitor, path), 200);
    // When an upload ends, its slot is free again.
    expectStatus(await appendTus(own.visitor, paths[0] ?? "", 1, "bc"), 204);
    expectStatus(await begin("203.0.113.1", "a"), 201);
    expectError(await begin("203.0.113.1", "a"), 503, "overloaded");
    // The owner can read and raise the limit, for example for guests in one office.
    expect(await readLimit()).toBe(20);
    expectStatus(await client.patch(`/api/shares/${id}`, { maxUploadsPerAddress: 200 }), 200);
    expect(await readLimit()).toBe(200);
    for (let count = 0; count < 160; count++) expectStatus(await begin("203.0.113.1", "a"), 201);
    // All 200 slots are used by uploads with recent bytes: a new guest is rejected, and no upload is evicted.
    expectError(await begin("198.51.100.1"), 503, "overloaded");
    for (const maxUploadsPerAddress of [0, 201, 1.5, "20"]) {
      expectError(
        await client.patch(`/api/shares/${id}`, { maxUploadsPerAddress }),
        400,
        "invalid_field",
        "maxUploadsPerAddress",
      );
    }
    expectStatus(await client.patch(`/api/shares/${id}`, { maxUploadsPerAddress: null }), 200);
    expect(await readLimit()).toBe(20);
    expectError(await begin("203.0.113.1"), 503, "overloaded");
  });
});

test("parts are joined even if their sender has no slot left", async () => {
  const { client } = await server().signUp();
  const { home } = await createDropBox(client);
  const guest = server().visitor;
  const parts: string[] = [];
  for (let count = 0; count < 20; count++) {
    const headers = { "upload-length": "1", "upload-concat": "partial" };
    parts.push((await tryCreateTus(guest, headers, {}, { home, bytes: "x" })).header("location"));
  }
  expectError(await tryCreateTus(guest, { "upload-length": "1" }, {}, { home }), 503, "overloaded");
  const joined = await tryCreateTus(
    guest,
    { "upload-concat": `final;${parts.join(" ")}` },
    { filename: "x.txt" },
    { home },
  );
  expectStatus(joined, 201);
  const list = await client.get("/api/files?folder=/box");
  expect(list.at("data.files.0")).toMatchObject({ name: "x.txt", checksum: checksumOf("x".repeat(20)) });
});

test("an interrupted first request keeps no quota, as its sender never got the URL", async () => {
  const { client } = await server().signUp();
  const { home } = await createDropBox(client);
  const connection = await RawConnection.open(server().port);
  await connection.write(
    `POST ${home} HTTP/1.1\r\nHost: larder.test\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 100000\r\n` +
      "Content-Type: application/offset+octet-stream\r\nContent-Length: 100000\r\n\r\n",
  );
  await connection.write(randomContent(50_000));
  await eventually("the received bytes count", async () => (await usedBytes(client)) > 0);
  connection.cut();
  await eventually("they no longer count", async () => (await usedBytes(client)) === 0);
});

test("a sender's name is validated before the bytes are sent", async () => {
  const { client } = await server().signUp();
  const { home } = await createDropBox(client);
  const sender = "x".repeat(101);
  const refused = await tryCreateTus(server().visitor, { "upload-length": "1" }, { sender }, { home });
  expectError(refused, 400, "invalid_field", "sender");
});

testAllResponses(server);
