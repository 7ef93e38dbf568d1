import { beforeAll, expect, test } from "bun:test";
import type { Account, Client } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

interface Owned {
  file: string;
  folder: string;
  session: string;
}

/** Creates an account with a private file in a private folder. */
async function createOwner() {
  const account = await server().signUp();
  const folder = await account.client.folderId("private");
  const file = await account.client.storedId("secret", { name: "secret.txt", fields: { folder: "/private" } });
  const session = (await account.client.get("/api/auth/session")).string("session.id");
  return { account, owned: { file, folder, session } };
}

/**
 * The owner's things, and the accounts that try to reach them. All attempts share them, since none may change anything.
 */
let mine: Awaited<ReturnType<typeof createOwner>>;
let stranger: Account;
let administrator: Account;

beforeAll(async () => {
  mine = await createOwner();
  stranger = await server().signUp();
  administrator = await server().addUser(["--admin"]);
});

const attempts: [string, (client: Client, owned: Owned) => ReturnType<Client["get"]>][] = [
  ["GET file", (client, { file }) => client.get(`/api/files/${file}`)],
  ["GET download", (client, { file }) => client.get(`/api/files/${file}/download`)],
  ["GET download inline", (client, { file }) => client.get(`/api/files/${file}/download?inline=true`)],
  ["GET range", (client, { file }) => client.get(`/api/files/${file}/download`, { range: "bytes=0-1" })],
  ["GET range out of reach", (client, { file }) => client.get(`/api/files/${file}/download`, { range: "bytes=99-" })],
  ["GET with If-None-Match", (client, { file }) => client.get(`/api/files/${file}/download`, { "if-none-match": "*" })],
  ["GET with If-Match", (client, { file }) => client.get(`/api/files/${file}/download`, { "if-match": '"x"' })],
  ["HEAD download", (client, { file }) => client.head(`/api/files/${file}/download`)],
  ["GET thumbnail", (client, { file }) => client.get(`/api/files/${file}/download?thumbnail=true`)],
  ["GET checksum", (client, { file }) => client.get(`/api/files/${file}/checksum`)],
  ["POST opened", (client, { file }) => client.post(`/api/files/${file}/opened`, {})],
  ["PUT file", (client, { file }) => client.put(`/api/files/${file}`, { name: "stolen.txt" })],
  ["PUT file public", (client, { file }) => client.put(`/api/files/${file}`, { isPublic: true })],
  [
    "PUT file with If-Match",
    (client, { file }) => client.put(`/api/files/${file}`, { name: "x" }, { "if-match": '"x"' }),
  ],
  ["PUT content", (client, { file }) => client.putContent(file, "overwritten")],
  ["PUT content with If-Match", (client, { file }) => client.putContent(file, "x", { "if-match": '"x"' })],
  ["DELETE file", (client, { file }) => client.delete(`/api/files/${file}`)],
  ["move file", (client, { file }) => client.post("/api/files/move", { fileIds: [file], destinationFolder: "/" })],
  [
    "move folder",
    (client, { folder }) => client.post("/api/files/move", { fileIds: [folder], destinationFolder: "/x" }),
  ],
  ["copy file", (client, { file }) => client.post("/api/files/copy", { fileIds: [file], destinationFolder: "/" })],
  [
    "copy folder",
    (client, { folder }) => client.post("/api/files/copy", { fileIds: [folder], destinationFolder: "/" }),
  ],
  ["GET folder", (client, { folder }) => client.get(`/api/files/folders/${folder}`)],
  ["PUT folder", (client, { folder }) => client.put(`/api/files/folders/${folder}`, { name: "stolen" })],
  ["DELETE folder", (client, { folder }) => client.delete(`/api/files/folders/${folder}?recursive=true`)],
  ["DELETE folder not recursive", (client, { folder }) => client.delete(`/api/files/folders/${folder}`)],
  ["list folder", (client) => client.get("/api/files?folder=/private")],
  ["search in folder", (client) => client.get("/api/files?folder=/private&search=secret")],
  ["DELETE session", (client, { session }) => client.delete(`/api/users/sessions/${session}`)],
];

test.each(attempts)("for another user, %s is 404", async (_, attempt) => {
  const { account, owned } = mine;
  const before = (await account.client.get(`/api/files/${owned.file}`)).json;
  const response = await attempt(stranger.client, owned);
  expectStatus(response, 404);
  expect(response.text).not.toContain("secret");
  expect(response.text).not.toContain(account.email);
  expect((await account.client.get(`/api/files/${owned.file}`)).json).toEqual(before);
  expect((await account.client.get(`/api/files/${owned.file}/download`)).text).toBe("secret");
  expect(await account.client.names("/private")).toEqual(["secret.txt"]);
  expect(await stranger.client.names()).toEqual([]);
});

test.each(attempts)("for an administrator, %s of another user is 404", async (_, attempt) => {
  const { account, owned } = mine;
  const response = await attempt(administrator.client, owned);
  expectStatus(response, 404);
  expect(await account.client.names("/private")).toEqual(["secret.txt"]);
});

test("an unknown id and another user's id get the same response", async () => {
  const { owned } = mine;
  const foreign = await stranger.client.get(`/api/files/${owned.file}`);
  const unknown = await stranger.client.get("/api/files/file_00000000000000000000");
  const maskIds = (text: string) => text.replaceAll(owned.file, "ID").replaceAll("file_00000000000000000000", "ID");
  expect(maskIds(foreign.text)).toBe(maskIds(unknown.text));
});

test("the same name in two accounts is two files", async () => {
  const [a, b] = [await server().signUp(), await server().signUp()];
  await a.client.stored("of a", { name: "same.txt", fields: { folder: "/same" } });
  const response = await b.client.stored("of b", {
    name: "same.txt",
    fields: { folder: "/same", onConflict: "error" },
  });
  expect(response.string("data.name")).toBe("same.txt");
  const id = (await a.client.get("/api/files?folder=/same")).strings("data.files", "id")[0];
  expect((await a.client.get(`/api/files/${id}/download`)).text).toBe("of a");
});

test("a bulk request moves the user's own items and fails for another user's", async () => {
  const { owned } = mine;
  const own = await stranger.client.storedId("x", { name: "own" });
  const body = { fileIds: [owned.file, own], destinationFolder: "/box" };
  const response = await stranger.client.post("/api/files/move", body);
  expect(response.strings("data.moved", "id")).toEqual([own]);
  expect(response.list("data.failed")).toMatchObject([{ id: owned.file, error: { code: "RESOURCE_NOT_FOUND" } }]);
});

test("tokens give access only to their own account, also concurrently", async () => {
  const accounts = await Promise.all(Array.from({ length: 4 }, () => server().signUp()));
  await Promise.all(accounts.map(({ client, id }) => client.stored(id, { name: `${id}.txt` })));
  const seen = await Promise.all(accounts.flatMap(({ client }) => [client.names(), client.names(), client.names()]));
  const expectedNames = accounts.flatMap(({ id }) => [[`${id}.txt`], [`${id}.txt`], [`${id}.txt`]]);
  expect(seen).toEqual(expectedNames);
});

testAllResponses(server);
