// /api/imports: imports from other systems that the server runs.
import { afterAll, expect, test } from "bun:test";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApiResponse, Client } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { FakeImmich, IMMICH_KEY } from "../support/immich-server.ts";
import { scriptedServer } from "../support/import-sources.ts";
import { sharedServer, temporaryDirectory, withServer } from "../support/server.ts";
import { photoFile, photoWithDescription, takeoutZip } from "../support/takeout.ts";
import { tinyPng } from "../support/images.ts";

const importsFolder = await temporaryDirectory();
afterAll(() => rm(importsFolder, { recursive: true, force: true }));

const env = { LARDER_OUTBOUND_ALLOW: "127.0.0.0/8", LARDER_IMPORTS_FOLDER: importsFolder };
const server = sharedServer({ hasAccounts: true, env });
const other = await scriptedServer();

const TAKEN = "2019-07-01T10:00:00Z";

/** An archive with this many photos. */
function archive(count: number, color: number): Buffer {
  const numbers = Array.from({ length: count }, (_, number) => number);
  return takeoutZip(
    numbers.flatMap((number) =>
      photoWithDescription(tinyPng(2, 2, [color, number % 256, number >> 8]), { title: `${number}.png`, taken: TAKEN }),
    ),
  );
}

async function started(client: Client, body: Readonly<Record<string, unknown>>): Promise<string> {
  const response = await client.post("/api/imports", body);
  expectStatus(response, 202);
  return response.string("data.id");
}

/** The import, once it is in this state. */
async function inState(client: Client, id: string, state: string): Promise<ApiResponse> {
  let response: ApiResponse | undefined;
  await eventually(`the import is ${state}`, async () => {
    response = await client.get(`/api/imports/${id}`);
    return response.at("data.state") === state;
  });
  if (response === undefined) throw new Error("There was no response.");
  return response;
}

async function photosOf(client: Client): Promise<string[]> {
  const listed = await client.get("/api/files?folder=/Photos&recursive=true&type=file&limit=100");
  return listed.status === 404 ? [] : listed.strings("data.files", "name").toSorted();
}

test("archives that were uploaded are imported, and the report can be read", async () => {
  const { client } = await server().signUp();
  const first = await client.storedId(archive(3, 1), { name: "takeout-20260101T000000Z-001.zip" });
  const second = await client.storedId(
    takeoutZip([
      photoFile("Photos from 2019", "0.png", tinyPng(2, 2, [1, 0, 0])),
      { path: "Takeout/Keep/a.html", content: "x" },
      { path: "Takeout/Keep/b.html", content: "x" },
    ]),
    { name: "takeout-20260101T000000Z-002.zip" },
  );
  const id = await started(client, { kind: "takeout", fileIds: [first, second] });
  const done = await inState(client, id, "completed");
  expect(done.at("data")).toMatchObject({
    kind: "takeout",
    source: "takeout-20260101T000000Z-001.zip and 1 more",
    folder: "/Photos",
    origin: "account",
    message: null,
    needsSecret: false,
    total: 3,
    found: 3,
    imported: 3,
    merged: 0,
    problems: [{ reason: "unsupported", count: 2 }],
  });
  expect(await photosOf(client)).toEqual(["0.png", "1.png", "2.png"]);
  const problems = await client.get(`/api/imports/${id}/problems?limit=1`);
  expect(problems.at("data")).toMatchObject({
    problems: [{ name: "Keep", reason: "unsupported" }],
    pagination: { total: 1 },
  });
  const again = await started(client, { kind: "takeout", fileIds: [first, second] });
  expect((await inState(client, again, "completed")).at("data")).toMatchObject({ imported: 0, unchanged: 3 });
  const listed = await client.get("/api/imports");
  expect(listed.strings("data.imports", "id")).toEqual([again, id]);
  expectError(await client.post(`/api/imports/${id}/resume`, {}), 409, "import_state");
  expectError(await client.post(`/api/imports/${id}/cancel`, {}), 409, "import_state");
});

test("requests that can't be imports are rejected", async () => {
  const { client } = await server().signUp();
  const text = await client.storedId("x", { name: "letter.txt" });
  const rejected: [Record<string, unknown>, number, string][] = [
    [{ kind: "takeout" }, 400, "invalid_field"],
    [{ kind: "takeout", fileIds: [text] }, 400, "invalid_field"],
    [{ kind: "takeout", fileIds: ["file_00000000000000000000"] }, 404, "not_found"],
    [{ kind: "nextcloud", username: "a", secret: "b" }, 400, "invalid_field"],
    [{ kind: "nextcloud", url: "https://example.org", secret: "b" }, 400, "invalid_field"],
    [{ kind: "immich", url: "https://example.org" }, 400, "invalid_field"],
    [{ kind: "immich", url: "https://192.168.1.1", secret: "b" }, 400, "forbidden_target"],
    [{ kind: "immich", url: "file:///etc/passwd", secret: "b" }, 400, "forbidden_target"],
    [{ kind: "takeout", fileIds: [text], folder: "no/slash" }, 400, "invalid_path"],
  ];
  for (const [body, status, reason] of rejected) expectError(await client.post("/api/imports", body), status, reason);
  expectError(await client.get("/api/imports/imp_00000000000000000000"), 404, "not_found");
  const stranger = await server().signUp();
  const id = await client.storedId(archive(1, 2), { name: "takeout-1.zip" });
  const own = await started(client, { kind: "takeout", fileIds: [id] });
  await inState(client, own, "completed");
  expectError(await stranger.client.get(`/api/imports/${own}`), 404, "not_found");
  expectError(await stranger.client.post(`/api/imports/${own}/cancel`, {}), 404, "not_found");
  expect((await stranger.client.get("/api/imports")).list("data.imports")).toEqual([]);
});

test("an import from a server can be paused, resumed, and canceled, one at a time", async () => {
  const { client } = await server().signUp();
  const assets = [
    { id: "5a7b1c22-0000-4000-8000-00000000000a", fileName: "a.jpg", content: "photo a" },
    { id: "5a7b1c22-0000-4000-8000-00000000000b", fileName: "b.jpg", content: "photo b" },
  ];
  const immich = new FakeImmich({ assets });
  let isBlocked = true;
  other.respond((request) => {
    const isDelayed = isBlocked && request.path.includes("00000000000b/original");
    return isDelayed ? { status: 503, headers: { "retry-after": "120" } } : immich.respond(request);
  });
  const body = { kind: "immich", url: other.url, secret: IMMICH_KEY };
  const id = await started(client, body);
  await eventually("one photo is imported", async () => (await photosOf(client)).length === 1);
  expectError(await client.post("/api/imports", body), 409, "import_state");
  const paused = await client.post(`/api/imports/${id}/pause`, {});
  expect(paused.at("data")).toMatchObject({ state: "paused", needsSecret: false, source: other.url });
  expectError(await client.post(`/api/imports/${id}/pause`, {}), 409, "import_state");
  isBlocked = false;
  expectStatus(await client.post(`/api/imports/${id}/resume`, {}), 200);
  const done = await inState(client, id, "completed");
  expect(done.at("data")).toMatchObject({ imported: 2, unchanged: 0, total: 2 });
  expect(await photosOf(client)).toEqual(["a.jpg", "b.jpg"]);
  isBlocked = true;
  const { client: third } = await server().signUp();
  const canceled = await started(third, body);
  await eventually("one photo is imported", async () => (await photosOf(third)).length === 1);
  expect((await third.post(`/api/imports/${canceled}/cancel`, {})).at("data.state")).toBe("canceled");
  expectError(await third.post(`/api/imports/${canceled}/resume`, {}), 409, "import_state");
});

test("a wrong key ends the import with a message, and nothing of a key is stored", async () => {
  await withServer({ hasAccounts: true, env }, async (own) => {
    const { client } = await own.signUp();
    other.respond((request) => new FakeImmich({ assets: [] }).respond(request));
    const secret = "a-very-secret-key-that-is-wrong";
    const id = await started(client, { kind: "immich", url: other.url, secret });
    const failed = await inState(client, id, "failed");
    expect(failed.string("data.message")).toContain("API key");
    // It was stored in English, and shown in English to everybody.
    const german = await client.get(`/api/imports/${id}`, { "accept-language": "de" });
    expect(german.string("data.message")).toContain("Immich hat den API-Schlüssel abgelehnt");
    await own.stop();
    const search = Bun.spawnSync(["grep", "-r", "-l", secret, own.dataDir]);
    expect(search.stdout.toString()).toBe("");
    expect(own.log).not.toContain(secret);
  });
});

test("a list that is too large ends the import with a message", async () => {
  const { client } = await server().signUp();
  const immich = new FakeImmich({ assets: [] });
  const body = `[${"{},".repeat(300_000)}{}]`;
  other.respond((request) => (request.path === "/api/tags" ? { body } : immich.respond(request)));
  const id = await started(client, { kind: "immich", url: other.url, secret: IMMICH_KEY });
  const failed = await inState(client, id, "failed");
  expect(failed.string("data.message")).toBe(
    "The response of the server to /api/tags is not valid JSON, or is too long.",
  );
});

test("after kill -9, archives continue at once, and servers once the key is entered again", async () => {
  await withServer({ hasAccounts: true, env }, async (own) => {
    const [files, photos] = [await own.signUp(), await own.signUp()];
    const asset = { id: "5a7b1c22-0000-4000-8000-00000000000c", fileName: "c.jpg", content: "photo c" };
    const immich = new FakeImmich({ assets: [asset] });
    let isBlocked = true;
    other.respond((request) => {
      const isDelayed = isBlocked && request.path.includes("/original");
      return isDelayed ? { status: 503, headers: { "retry-after": "120" } } : immich.respond(request);
    });
    const remote = await started(photos.client, { kind: "immich", url: other.url, secret: IMMICH_KEY });
    const count = 1_500;
    const zip = await files.client.storedId(archive(count, 3), { name: "takeout-1.zip" });
    const local = await started(files.client, { kind: "takeout", fileIds: [zip] });
    const stored = async () => (await files.client.get("/api/users/usage")).number("data.storage.files") - 1;
    await eventually("some photos are imported", async () => (await stored()) > 20);
    await eventually("the remote import has begun", async () =>
      other.requests.some(({ path }) => path.includes("/original")),
    );
    await own.kill9();
    await own.start();
    const before = await photos.client.get(`/api/imports/${remote}`);
    expect(before.at("data")).toMatchObject({ state: "interrupted", needsSecret: true });
    expectError(await photos.client.post(`/api/imports/${remote}/resume`, {}), 400, "invalid_field");
    isBlocked = false;
    expectStatus(await photos.client.post(`/api/imports/${remote}/resume`, { secret: IMMICH_KEY }), 200);
    await inState(photos.client, remote, "completed");
    const done = await inState(files.client, local, "completed");
    expect(done.at("data")).toMatchObject({ total: count, found: count });
    // The import ended before its last rows were written: it counted too few.
    expect(done.number("data.imported") + done.number("data.unchanged")).toBe(count);
    expect(await stored()).toBe(count);
  });
}, 180_000);

test("an import that waits for others can be canceled at once, and of two at the same moment one begins", async () => {
  await withServer({ hasAccounts: true, env: { ...env, LARDER_IMPORTS_MAX: "1" } }, async (own) => {
    const [first, second] = [await own.signUp(), await own.signUp()];
    const asset = { id: "5a7b1c22-0000-4000-8000-00000000000d", fileName: "d.jpg", content: "photo d" };
    const immich = new FakeImmich({ assets: [asset] });
    other.respond((request) =>
      request.path.includes("/original") ? { status: 503, headers: { "retry-after": "120" } } : immich.respond(request),
    );
    const body = { kind: "immich", url: `${other.url}/?key=very-secret#part`, secret: IMMICH_KEY };
    const running = await started(first.client, body);
    // A search can be a secret: it was stored, and shown to administrators.
    expect((await inState(first.client, running, "running")).string("data.source")).toBe(`${other.url}/`);
    const ids = [
      await second.client.storedId(archive(1, 5), { name: "takeout-1.zip" }),
      await second.client.storedId(archive(1, 6), { name: "takeout-2.zip" }),
    ];
    const starts = await Promise.all(
      ids.map((id) => second.client.post("/api/imports", { kind: "takeout", fileIds: [id] })),
    );
    expect(starts.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409]);
    // The rejected one was stored all the same: it waited until the next start of the server.
    expect((await second.client.get("/api/imports")).list("data.imports")).toMatchObject([{ state: "waiting" }]);
    const [waiting = ""] = starts.filter(({ status }) => status === 202).map((response) => response.string("data.id"));
    // The response came only after the other import had ended.
    const canceled = await second.client.post(`/api/imports/${waiting}/cancel`, {});
    expect(canceled.at("data.state")).toBe("canceled");
    expectStatus(await first.client.post(`/api/imports/${running}/cancel`, {}), 200);
  });
});

test("an account that is disabled gets nothing more, also of a file that is being read", async () => {
  const account = await server().signUp();
  const admin = await server().addUser(["--admin"]);
  const asset = { id: "5a7b1c22-0000-4000-8000-00000000000e", fileName: "e.jpg", content: "photo e" };
  const immich = new FakeImmich({ assets: [asset] });
  other.respond((request) =>
    request.path.includes("/original") ? { status: 503, headers: { "retry-after": "120" } } : immich.respond(request),
  );
  const id = await started(account.client, { kind: "immich", url: other.url, secret: IMMICH_KEY });
  await eventually("the photo is requested", async () => other.requests.some(({ path }) => path.includes("/original")));
  expectStatus(await admin.client.patch(`/api/admin/users/${account.id}`, { disabled: true }), 200);
  await eventually("the import is canceled", async () => {
    const listed = await admin.client.get("/api/admin/imports?limit=100");
    return listed
      .list("data.imports")
      .some((run) => JSON.stringify(run).includes(id) && JSON.stringify(run).includes("canceled"));
  });
});

test("administrators import from the folder of the machine, and see and end all imports", async () => {
  const admin = await server().addUser(["--admin"]);
  const account = await server().signUp();
  await mkdir(join(importsFolder, "anna"), { recursive: true });
  await writeFile(join(importsFolder, "anna", "takeout-1.zip"), archive(2, 4));
  await symlink("/etc", join(importsFolder, "link"));
  const body = { userId: account.id, kind: "takeout", path: "anna", folder: "/Old" };
  for (const path of ["missing", "../", "link", "link/passwd", "/etc"]) {
    expectError(await admin.client.post("/api/admin/imports", { ...body, path }), 400, "invalid_field");
  }
  expectError(await account.client.post("/api/admin/imports", body), 403, "role");
  // A link in a folder was followed.
  await mkdir(join(importsFolder, "linked"));
  await symlink(join(importsFolder, "anna", "takeout-1.zip"), join(importsFolder, "linked", "takeout-1.zip"));
  const linked = await admin.client.post("/api/admin/imports", { ...body, path: "linked" });
  await inState(account.client, linked.string("data.id"), "failed");
  const begun = await admin.client.post("/api/admin/imports", body);
  expectStatus(begun, 202);
  const id = begun.string("data.id");
  const done = await inState(account.client, id, "completed");
  expect(done.at("data")).toMatchObject({ imported: 2, origin: "administrator", source: "anna", folder: "/Old" });
  // The person could continue it when the folder had files of somebody else.
  const failed = linked.string("data.id");
  expectError(await account.client.post(`/api/imports/${failed}/resume`, {}), 409, "import_state");
  const listed = await admin.client.get("/api/admin/imports?limit=1");
  expect(listed.at("data")).toMatchObject({ imports: [{ id, user: { id: account.id } }], hasFolder: true });
  expectError(await admin.client.post(`/api/admin/imports/${id}/cancel`, {}), 409, "import_state");
  await withServer({ hasAccounts: true }, async (plain) => {
    const { client } = await plain.addUser(["--admin"]);
    expect((await client.get("/api/admin/imports")).at("data")).toMatchObject({ imports: [], hasFolder: false });
    expectError(await client.post("/api/admin/imports", { ...body, userId: account.id }), 404, "not_found");
  });
});
