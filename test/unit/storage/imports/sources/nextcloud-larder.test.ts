// The source for Nextcloud reads a running Larder, which speaks Nextcloud's WebDAV.
import { beforeAll, expect, test } from "bun:test";
import { operatorNetwork } from "../../../../../src/features/storage/imports/sources/server/network.ts";
import { NextcloudSource } from "../../../../../src/features/storage/imports/sources/nextcloud/webdav-source.ts";
import { createAppPassword, type TestAppPassword } from "../../../../support/app-passwords.ts";
import { type Account, digestOf, randomContent } from "../../../../support/client.ts";
import { expectStatus } from "../../../../support/expect.ts";
import { readContent, readSource } from "../../../../support/import-sources.ts";
import { shareWith } from "../../../../support/account-shares.ts";
import { sharedServer } from "../../../../support/server.ts";
import { connectDav, type DavClient } from "../../../../support/webdav.ts";

const server = sharedServer({ hasAccounts: true });
const CONTENTS: Record<string, string | Uint8Array<ArrayBuffer>> = {
  "a.txt": "a",
  "Zürich/b & c #1 %41?.txt": "b",
  "Zürich/deep/é 😀 100%.txt": "c",
  "Zürich/deep/empty": "",
  "Zürich/large.bin": randomContent(3 * 1024 * 1024),
};
const MODIFIED_S = 1_577_934_245;

let account: Account;
let appPassword: TestAppPassword;

beforeAll(async () => {
  account = await server().signUp();
  appPassword = await createAppPassword(account);
  const dav = await connectDav(account, {}, `/remote.php/dav/files/${encodeURIComponent(account.email)}/`);
  for (const folder of ["Zürich", "Zürich/deep", "Zürich/nothing"]) {
    expectStatus(await dav.mkcol(encode(folder)), 201);
  }
  for (const [path, body] of Object.entries(CONTENTS)) await put(dav, path, body);
  await markAsFavorite(dav, "Zürich/b & c #1 %41?.txt");
  await markAsFavorite(dav, "Zürich");
  await receiveShare();
});

function encode(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

async function put(dav: DavClient, path: string, body: string | Uint8Array<ArrayBuffer>): Promise<void> {
  const headers = { "x-oc-mtime": String(MODIFIED_S) };
  expectStatus(await dav.request("PUT", encode(path), { body, headers }), 201);
}

async function markAsFavorite(dav: DavClient, path: string): Promise<void> {
  const body = `<d:propertyupdate xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:set><d:prop>
    <oc:favorite>1</oc:favorite></d:prop></d:set></d:propertyupdate>`;
  expectStatus(await dav.request("PROPPATCH", encode(path), { body }), 207);
}

/** Someone else shares a file with the account. */
async function receiveShare(): Promise<void> {
  const other = await server().signUp();
  const uploaded = await other.client.upload("secret", { name: "secret.txt" });
  await shareWith(other.client, uploaded.string("data.id"), account);
}

function source(address: string, changes: Partial<{ username: string; password: string }> = {}): NextcloudSource {
  const { username, password } = { ...appPassword, ...changes };
  return new NextcloudSource({ network: operatorNetwork(), address, username, password });
}

test("all files are offered with their times, checksums, and favorites", async () => {
  const { files, leftOut, totals } = await readSource(source(server().url));
  const mine = files.filter(({ path }) => !path.startsWith("Shared with me"));
  expect(mine.map(({ path }) => path)).toEqual([
    "a.txt",
    "Zürich/b & c #1 %41?.txt",
    "Zürich/large.bin",
    "Zürich/deep/empty",
    "Zürich/deep/é 😀 100%.txt",
  ]);
  for (const file of mine) {
    const content = CONTENTS[file.path] ?? "";
    expect([file.sizeBytes, file.modifiedMs]).toEqual([Buffer.from(content).byteLength, MODIFIED_S * 1000]);
    // Sequentially, because the order of requests does not matter here, but the load does.
    expect(digestOf(await readContent(file))).toBe(digestOf(content));
  }
  expect(mine.filter(({ details }) => details.isFavorite).map(({ path }) => path)).toEqual([
    "Zürich/b & c #1 %41?.txt",
  ]);
  expect(new Set(mine.map(({ key }) => key)).size).toBe(5);
  expect(files.filter(({ path }) => path.includes("secret"))).toEqual([]);
  expect(leftOut.map(({ name, reason }) => ({ name, reason }))).toEqual([
    { name: "Earlier versions", reason: "unsupported" },
    { name: "Zürich", reason: "unsupported" },
    { name: "Shared with me/secret.txt", reason: "unsupported" },
  ]);
  const total = Object.values(CONTENTS).reduce((sum, content) => sum + Buffer.from(content).byteLength, 0);
  expect(totals).toEqual([{ files: undefined, sizeBytes: total }]);
});

test("keys, versions, and the order are the same again", async () => {
  const [first, second] = [await readSource(source(server().url)), await readSource(source(server().url))];
  const identities = (offered: typeof first) => offered.files.map(({ key, version }) => `${key} ${version}`);
  expect(identities(second)).toEqual(identities(first));
});

test.each([
  ["of a page", "/index.php/apps/files?dir=/"],
  ["of the folder", "/remote.php/webdav/"],
  ["of a folder below", `/remote.php/webdav/${encodeURIComponent("Zürich")}`],
  ["of plain WebDAV", "/dav"],
])("the address may be that %s", async (_, path) => {
  const { files } = await readSource(source(server().url + path));
  expect(files.filter((file) => file.path.endsWith("large.bin"))).toHaveLength(1);
});

test("a wrong password is explained, and not repeated", async () => {
  const wrong = source(server().url, { password: "wrong-secret" });
  const failure = await readSource(wrong).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: "SourceError", isTemporary: false });
  expect(String(failure)).toContain("create an app password");
  expect(String(failure)).not.toContain("wrong-secret");
});

test("a folder that does not exist is explained", async () => {
  const failure = await readSource(source(`${server().url}/dav/missing/`)).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: "SourceError", isTemporary: false });
  expect(String(failure)).toContain("No WebDAV folder is at this address (status 404)");
});
