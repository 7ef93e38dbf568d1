// Somebody with whom a folder is shared for reading tries every request that changes something.
import { beforeAll, describe, expect, test } from "bun:test";
import routes from "../fixtures/routes.json";
import { shareWith } from "../support/account-shares.ts";
import type { Account, ApiResponse, Client } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { tinyPng } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";
import { makeZip } from "../support/zip-files.ts";
import { tryCreateTus } from "../support/tus.ts";

const server = sharedServer({ hasAccounts: true });

/** Ids of the owner that the recipient knows, and one of the recipient's own. */
interface Known {
  readonly folder: string;
  readonly inner: string;
  readonly file: string;
  readonly picture: string;
  readonly archive: string;
  readonly trashed: string;
  readonly share: string;
  readonly album: string;
  readonly own: string;
}

let owner: Account;
let reader: Account;
let known: Known;

beforeAll(async () => {
  owner = await server().signUp({ name: "Olga Owner" });
  reader = await server().signUp({ name: "Rita Reader" });
  const { client } = owner;
  const folder = await client.folderId("trips");
  const inner = await client.folderId("days", "/trips");
  const fields = { folder: "/trips" };
  const file = await client.storedId("first", { name: "rome.txt", fields });
  expectStatus(await client.putContent(file, "second"), 200);
  const picture = await client.storedId(tinyPng(), { name: "a.png", type: "image/png", fields });
  const archive = await client.storedId(makeZip([{ name: "x.txt", content: "x" }]), { name: "a.zip", fields });
  const trashed = await client.storedId("old", { name: "old.txt", fields });
  const share = await shareWith(client, folder, reader, { permissions: "read", versions: true });
  expectStatus(await client.post("/api/files/trash", { fileIds: [trashed] }), 200);
  const album = (await client.post("/api/albums", { name: "Best of" })).string("data.id");
  expectStatus(await client.post(`/api/albums/${album}/items`, { fileIds: [picture] }), 200);
  expectStatus(await client.post(`/api/albums/${album}/shares`, { user: reader.email }), 201);
  const own = await reader.client.storedId("own", { name: "own.txt" });
  known = { folder, inner, file, picture, archive, trashed, share, album, own };
});

type Attempt = (client: Client, ids: Known) => Promise<ApiResponse>;

/** At least one attempt for each route that changes files, albums or shares. */
const ATTEMPTS: Readonly<Record<string, readonly Attempt[]>> = {
  "POST /api/files/upload": [
    (client, { share }) => client.upload("x", { name: "new.txt", fields: { share } }),
    (client, { share }) => client.upload("x", { name: "rome.txt", fields: { share } }),
    (client, { share }) => client.upload("x", { name: "new.txt", fields: { share, folder: "/days/new" } }),
  ],
  "POST /api/tus": [
    (client, { share }) => tryCreateTus(client, { "upload-length": "1" }, { filename: "new.txt", share }),
  ],
  "PUT /api/files/:id": [
    (client, { file }) => client.put(`/api/files/${file}`, { name: "b.txt" }),
    (client, { file }) => client.put(`/api/files/${file}`, { description: "x" }),
    (client, { file }) => client.put(`/api/files/${file}`, { tags: ["x"] }),
    (client, { file }) => client.put(`/api/files/${file}`, { isPublic: true }),
    (client, { file }) => client.put(`/api/files/${file}`, { folder: "/days" }),
  ],
  "PUT /api/files/:id/content": [(client, { file }) => client.putContent(file, "changed")],
  "DELETE /api/files/:id": [(client, { file }) => client.delete(`/api/files/${file}`)],
  "POST /api/files/:id/edit": [(client, { picture }) => client.post(`/api/files/${picture}/edit`, { rotate: 90 })],
  "POST /api/files/:id/extract": [
    (client, { archive, share }) => client.post(`/api/files/${archive}/extract`, { share, folderPath: "/" }),
    (client, { archive, share }) => client.post(`/api/files/${archive}/extract`, { share, folderPath: "/days" }),
  ],
  "POST /api/files/:id/versions/:version/restore": [
    (client, { file }) => client.post(`/api/files/${file}/versions/1/restore`),
  ],
  "DELETE /api/files/:id/versions/:version": [(client, { file }) => client.delete(`/api/files/${file}/versions/1`)],
  "POST /api/files/:id/shares": [
    (client, { file }) => client.post(`/api/files/${file}/shares`, {}),
    (client, { file }) => client.post(`/api/files/${file}/shares`, { user: reader.email, permissions: "write" }),
  ],
  "POST /api/files/folders/:id/shares": [
    (client, { folder }) => client.post(`/api/files/folders/${folder}/shares`, {}),
    (client, { inner }) => client.post(`/api/files/folders/${inner}/shares`, { user: reader.email }),
  ],
  "PATCH /api/shares/:id": [(client, { share }) => client.patch(`/api/shares/${share}`, { permissions: "write" })],
  "DELETE /api/shares/:id": [(client, { share }) => client.delete(`/api/shares/${share}`)],
  "POST /api/files/folders": [
    (client, { share }) => client.post("/api/files/folders", { name: "new", share }),
    (client, { share }) => client.post("/api/files/folders", { name: "new", path: "/days", share }),
  ],
  "PUT /api/files/folders/:id": [
    (client, { folder }) => client.put(`/api/files/folders/${folder}`, { name: "b" }),
    (client, { inner }) => client.put(`/api/files/folders/${inner}`, { name: "b" }),
    (client, { inner }) => client.put(`/api/files/folders/${inner}`, { description: "x" }),
  ],
  "DELETE /api/files/folders/:id": [
    (client, { folder }) => client.delete(`/api/files/folders/${folder}?recursive=true`),
    (client, { inner }) => client.delete(`/api/files/folders/${inner}`),
  ],
  "POST /api/files/move": [
    (client, { file }) => client.post("/api/files/move", { fileIds: [file], destinationFolder: "/" }),
    (client, { file, share }) => client.post("/api/files/move", { fileIds: [file], destinationFolder: "/days", share }),
    (client, { own, share }) => client.post("/api/files/move", { fileIds: [own], destinationFolder: "/", share }),
  ],
  "POST /api/files/copy": [
    (client, { own, share }) => client.post("/api/files/copy", { fileIds: [own], destinationFolder: "/", share }),
    (client, { file, share }) => client.post("/api/files/copy", { fileIds: [file], destinationFolder: "/days", share }),
  ],
  "POST /api/files/tags": [(client, { file }) => client.post("/api/files/tags", { fileIds: [file], add: ["x"] })],
  "POST /api/files/trash": [
    (client, { file }) => client.post("/api/files/trash", { fileIds: [file] }),
    (client, { folder }) => client.post("/api/files/trash", { fileIds: [folder] }),
  ],
  "POST /api/files/trash/restore": [
    (client, { trashed }) => client.post("/api/files/trash/restore", { fileIds: [trashed] }),
  ],
  "DELETE /api/files/trash/:id": [(client, { trashed }) => client.delete(`/api/files/trash/${trashed}`)],
  "PATCH /api/albums/:id": [(client, { album }) => client.patch(`/api/albums/${album}`, { name: "b" })],
  "DELETE /api/albums/:id": [(client, { album }) => client.delete(`/api/albums/${album}`)],
  "POST /api/albums/:id/items": [
    (client, { album, own }) => client.post(`/api/albums/${album}/items`, { fileIds: [own] }),
  ],
  "POST /api/albums/:id/items/move": [
    (client, { album, picture }) =>
      client.post(`/api/albums/${album}/items/move`, { fileIds: [picture], before: null }),
  ],
  "POST /api/albums/:id/items/remove": [
    (client, { album, picture }) => client.post(`/api/albums/${album}/items/remove`, { fileIds: [picture] }),
  ],
  "POST /api/albums/:id/shares": [(client, { album }) => client.post(`/api/albums/${album}/shares`, {})],
};

/** Routes that change something, and name nothing of others: the own trash, albums, uploads, extractions, and marks. */
const OWN_ONLY = [
  "DELETE /api/files/trash",
  "POST /api/files/restore",
  "POST /api/albums",
  "DELETE /api/shares/received/:id",
  "PATCH /api/tus/:uploadId",
  "POST /api/tus/:uploadId",
  "DELETE /api/tus/:uploadId",
  "DELETE /api/files/extractions/:id",
  "POST /api/files/archive",
  "POST /api/files/:id/opened",
];

/** Everything of the owner that a request could have changed. */
async function stateOf({ client }: Account): Promise<unknown> {
  const { file, share, album } = known;
  const read = async (path: string) => {
    const response = await client.get(path);
    expectStatus(response, 200);
    return response.text;
  };
  const paths = [
    "/api/files?recursive=true",
    "/api/files/trash",
    `/api/files/${file}/versions`,
    `/api/files/${file}/download`,
    `/api/files/${file}/shares`,
    `/api/shares/${share}`,
    `/api/albums/${album}`,
    "/api/shares",
  ];
  return await Promise.all(paths.map(read));
}

describe("the recipient of a share for reading", () => {
  test.each(Object.entries(ATTEMPTS))("is rejected by %s, and nothing changes", async (_, attempts) => {
    const before = await stateOf(owner);
    for (const attempt of attempts) {
      const response = await attempt(reader.client, known);
      expect({ text: response.text, isRejected: [403, 404].includes(response.status) }).toEqual({
        text: response.text,
        isRejected: true,
      });
    }
    expect(await stateOf(owner)).toEqual(before);
    expect(await reader.client.names("/")).toEqual(["own.txt"]);
  });

  test("has been tried with every route that changes files, albums or shares", () => {
    const changing = Object.keys(routes).filter((route) =>
      /^(?!GET|HEAD|OPTIONS)\S+ \/api\/(files|tus|albums|shares)\b/.test(route),
    );
    expect(changing.toSorted()).toEqual([...Object.keys(ATTEMPTS), ...OWN_ONLY].toSorted());
  });
});

testAllResponses(server);
