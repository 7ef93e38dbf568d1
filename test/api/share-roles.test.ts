// Who may call what on an item that is shared between accounts: every route with a file or folder, called by every kind
// of caller. Each combination has its own file and folder.
import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, Client } from "../support/client.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { shareWith, soonExpiry, waitForExpiry } from "../support/account-shares.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** `viewer` has a write share, but a role that may not write. `sibling` may write to /dir-secret, next to /dir. */
const CALLERS = ["owner", "writer", "reader", "expired", "revoked", "stranger", "sibling", "viewer"] as const;
type Caller = (typeof CALLERS)[number];

interface Case {
  client: Client;
  file: string;
  folder: string;
  /** The share through which the caller has, or had, access. */
  share: string;
  /** Path of `folder`, as the caller sees it. */
  path: string;
}

let owner: Account;
const clients = new Map<Caller, Client>();
const shares = new Map<Caller, string>();
let documented: Record<string, unknown> = {};

beforeAll(async () => {
  owner = await server().signUp();
  const dir = await owner.client.folderId("dir");
  const secret = await owner.client.folderId("dir-secret");
  clients.set("owner", owner.client);
  for (const caller of CALLERS) {
    if (caller === "owner") continue;
    const account = await server().signUp();
    clients.set(caller, account.client);
    if (caller === "stranger") continue;
    const permissions = caller === "reader" ? "read" : "write";
    const given = { permissions, ...(caller === "expired" && { expiresAt: soonExpiry() }) } as const;
    const share = await shareWith(owner.client, caller === "sibling" ? secret : dir, account, given);
    shares.set(caller, share);
    if (given.expiresAt !== undefined) await waitForExpiry(given.expiresAt);
    if (caller === "revoked") await owner.client.delete(`/api/shares/${share}`);
    if (caller === "viewer") {
      await server().change(account.id, { role: "viewer" });
      const signedIn = await server().visitor.post("/api/auth/signin", account);
      clients.set(caller, new Client(server(), signedIn.string("token")));
    }
  }
  const document = (await server().visitor.get("/openapi.json")).at("paths");
  documented = typeof document === "object" && document !== null ? { ...document } : {};
});

let caseCount = 0;

async function createCase(caller: Caller): Promise<Case> {
  const client = clients.get(caller);
  if (client === undefined) throw new Error(`no client for ${caller}`);
  const name = `cell${++caseCount}`;
  const folder = await owner.client.folderId(name, "/dir");
  const file = await owner.client.storedId("first", { name: "a.txt", fields: { folder: `/dir/${name}` } });
  await owner.client.putContent(file, "second");
  // A caller without a share of their own tries another caller's.
  const share = shares.get(caller === "sibling" ? "writer" : caller) ?? shares.get("writer") ?? "";
  return { client, file, folder, share, path: `/${name}` };
}

/** Expected statuses for the owner, a writer, a reader and a viewer; all others get 404. */
type Row = [
  path: string,
  name: string,
  expected: [owner: number, writer: number, reader: number, viewer: number],
  call: (testCase: Case) => Promise<ApiResponse>,
];

const read: Row[] = [
  ["/api/files/{id}", "GET file", [200, 200, 200, 200], ({ client, file }) => client.get(`/api/files/${file}`)],
  [
    "/api/files/{id}/download",
    "GET download",
    [200, 200, 200, 200],
    ({ client, file }) => client.get(`/api/files/${file}/download`),
  ],
  [
    "/api/files/{id}/download",
    "GET a range",
    [206, 206, 206, 206],
    ({ client, file }) => client.get(`/api/files/${file}/download`, { range: "bytes=0-1" }),
  ],
  [
    "/api/files/{id}/download",
    "HEAD download",
    [200, 200, 200, 200],
    ({ client, file }) => client.head(`/api/files/${file}/download`),
  ],
  [
    "/api/files/{id}/download",
    "GET thumbnail",
    [200, 200, 200, 200],
    ({ client, file }) => client.get(`/api/files/${file}/download?thumbnail=true`),
  ],
  [
    "/api/files/{id}/checksum",
    "GET checksum",
    [200, 200, 200, 200],
    ({ client, file }) => client.get(`/api/files/${file}/checksum`),
  ],
  [
    "/api/files/folders/{id}",
    "GET folder",
    [200, 200, 200, 200],
    ({ client, folder }) => client.get(`/api/files/folders/${folder}`),
  ],
  [
    "/api/files",
    "list by share",
    [404, 200, 200, 200],
    ({ client, share, path }) => client.get(`/api/files?share=${share}&folder=${path}`),
  ],
  [
    "/api/files",
    "search by share",
    [404, 200, 200, 200],
    ({ client, share }) => client.get(`/api/files?share=${share}&search=a`),
  ],
  [
    "/api/files/{id}/versions",
    "GET versions",
    [200, 200, 403, 200],
    ({ client, file }) => client.get(`/api/files/${file}/versions`),
  ],
  [
    "/api/files/{id}/versions/{version}/download",
    "GET a version",
    [200, 200, 403, 200],
    ({ client, file }) => client.get(`/api/files/${file}/versions/1/download`),
  ],
  [
    "/api/files/folders/{id}/archive",
    "GET archive",
    [200, 200, 200, 200],
    ({ client, folder }) => client.get(`/api/files/folders/${folder}/archive`),
  ],
  [
    "/api/files/archive",
    "POST archive",
    [200, 200, 200, 200],
    ({ client, folder, file }) => client.post("/api/files/archive", { fileIds: [file, folder] }),
  ],
];

/** Requests that only work on one's own tree. */
const ownTree: Row[] = [
  [
    "/api/files/{id}",
    "GET file at a moment",
    [200, 404, 404, 404],
    ({ client, file }) => client.get(`/api/files/${file}?at=${encodeURIComponent(new Date().toISOString())}`),
  ],
];

const write: Row[] = [
  [
    "/api/files/{id}",
    "PUT description",
    [200, 200, 403, 403],
    ({ client, file }) => client.put(`/api/files/${file}`, { description: "d" }),
  ],
  [
    "/api/files/{id}",
    "PUT name",
    [200, 200, 403, 403],
    ({ client, file }) => client.put(`/api/files/${file}`, { name: "b.txt" }),
  ],
  [
    "/api/files/{id}/content",
    "PUT content",
    [200, 200, 403, 403],
    ({ client, file }) => client.putContent(file, "third"),
  ],
  ["/api/files/{id}", "DELETE file", [200, 200, 403, 403], ({ client, file }) => client.delete(`/api/files/${file}`)],
  [
    "/api/files/folders/{id}",
    "PUT folder",
    [200, 200, 403, 403],
    ({ client, folder, path }) => client.put(`/api/files/folders/${folder}`, { name: `${path.slice(1)}-renamed` }),
  ],
  [
    "/api/files/folders/{id}",
    "DELETE folder",
    [200, 200, 403, 403],
    ({ client, folder }) => client.delete(`/api/files/folders/${folder}?recursive=true`),
  ],
  [
    "/api/files/move",
    "move a file",
    [404, 200, 403, 403],
    ({ client, file, share, path }) =>
      client.post("/api/files/move", { fileIds: [file], destinationFolder: `${path}/sub`, share }),
  ],
  [
    "/api/files/move",
    "move a folder into one's own tree",
    [200, 400, 403, 403],
    ({ client, folder }) => client.post("/api/files/move", { fileIds: [folder], destinationFolder: "/elsewhere" }),
  ],
  [
    "/api/files/copy",
    "copy into the share",
    [404, 201, 403, 403],
    ({ client, file, share, path }) =>
      client.post("/api/files/copy", { fileIds: [file], destinationFolder: path, share }),
  ],
  [
    "/api/files/copy",
    "copy into one's own tree",
    [201, 201, 201, 403],
    ({ client, file }) => client.post("/api/files/copy", { fileIds: [file], destinationFolder: "/mine" }),
  ],
  [
    "/api/files/folders",
    "POST folder",
    [404, 201, 403, 403],
    ({ client, share, path }) => client.post("/api/files/folders", { name: "new", path, share }),
  ],
  [
    "/api/files/upload",
    "upload",
    [404, 201, 403, 403],
    ({ client, share, path }) => client.upload("new", { name: "n.txt", fields: { share, folder: path } }),
  ],
  [
    "/api/files/{id}/versions/{version}/restore",
    "restore a version",
    [200, 200, 403, 403],
    ({ client, file }) => client.post(`/api/files/${file}/versions/1/restore`),
  ],
  [
    "/api/files/{id}/versions/{version}",
    "DELETE a version",
    [200, 200, 403, 403],
    ({ client, file }) => client.delete(`/api/files/${file}/versions/1`),
  ],
  [
    "/api/files/trash",
    "put a file into the trash",
    [200, 200, 403, 403],
    ({ client, file }) => client.post("/api/files/trash", { fileIds: [file] }),
  ],
  [
    "/api/files/tags",
    "label in bulk",
    [200, 200, 403, 403],
    ({ client, file }) => client.post("/api/files/tags", { fileIds: [file], add: ["t"] }),
  ],
];

const own: Row[] = [
  [
    "/api/files/{id}",
    "PUT isPublic",
    [200, 403, 403, 403],
    ({ client, file }) => client.put(`/api/files/${file}`, { isPublic: true }),
  ],
  [
    "/api/files/{id}/shares",
    "share a file",
    [201, 403, 403, 403],
    ({ client, file }) => client.post(`/api/files/${file}/shares`, {}),
  ],
  [
    "/api/files/{id}/shares",
    "list the shares of a file",
    [200, 403, 403, 403],
    ({ client, file }) => client.get(`/api/files/${file}/shares`),
  ],
  [
    "/api/files/folders/{id}/shares",
    "share a folder",
    [201, 403, 403, 403],
    ({ client, folder }) => client.post(`/api/files/folders/${folder}/shares`, {}),
  ],
  [
    "/api/files/folders/{id}/shares",
    "list the shares of a folder",
    [200, 403, 403, 403],
    ({ client, folder }) => client.get(`/api/files/folders/${folder}/shares`),
  ],
];

describe.each([...read, ...ownTree, ...write, ...own])(
  "%s: %s",
  (path, _name, [asOwner, asWriter, asReader, asViewer], call) => {
    test("responds to each caller according to their share", async () => {
      expect(Object.keys(documented)).toContain(path);
      const seen: Record<string, number> = {};
      for (const caller of CALLERS) seen[caller] = (await call(await createCase(caller))).status;
      // A role that may not write is rejected before the item is looked up.
      const isRejectedByRole = asViewer === 403;
      expect({ ...seen }).toEqual({
        owner: asOwner,
        writer: asWriter,
        reader: asReader,
        expired: 404,
        revoked: 404,
        stranger: 404,
        sibling: 404,
        viewer: isRejectedByRole ? 403 : asViewer,
      });
    });
  },
);

test("the shared item itself can't be renamed, moved or deleted by a recipient", async () => {
  const testCase = await createCase("owner");
  const guest = await server().signUp();
  const share = await shareWith(owner.client, testCase.folder, guest, { permissions: "write" });
  const { client } = guest;
  const seen = [
    await client.put(`/api/files/folders/${testCase.folder}`, { name: "x" }),
    await client.delete(`/api/files/folders/${testCase.folder}?recursive=true`),
    await client.post("/api/files/move", { fileIds: [testCase.folder], destinationFolder: "/", share }),
    await client.post("/api/files/trash", { fileIds: [testCase.folder] }),
  ];
  expect(seen.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
});

test("no response to a recipient contains a name from above the share", async () => {
  await owner.client.folderId("cellar", "/attic");
  const folder = await owner.client.folderId("box", "/attic/cellar");
  const fields = { folder: "/attic/cellar/box/sub" };
  const file = await owner.client.storedId("first", { name: "a.txt", fields });
  await owner.client.putContent(file, "second");
  const guest = await server().signUp();
  const share = await shareWith(owner.client, folder, guest, { permissions: "write" });
  const { client } = guest;
  const testCase: Case = { client, file, folder, share, path: "/sub" };
  const deleting = /DELETE|trash|into one's own|PUT folder/;
  const seen: string[] = [];
  for (const [path, name, , call] of [...read, ...write, ...own]) {
    if (deleting.test(name)) continue;
    const { text, headers } = await call(testCase);
    if (/attic|cellar/.test(`${text} ${[...headers.values()].join(" ")}`)) seen.push(`${path}: ${name}`);
  }
  const trash = await client.post("/api/files/trash", { fileIds: [file] });
  if (/attic|cellar/.test(trash.text)) seen.push("trash");
  expect(seen).toEqual([]);
});

testAllResponses(server);
