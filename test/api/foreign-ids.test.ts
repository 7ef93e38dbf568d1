// Sends another user's ids in every id field of every endpoint in the OpenAPI document. The response must equal that to an
// unknown id, and nothing of the other user may change. A new id field fails here until its kind is listed below.
import { beforeAll, expect, test } from "bun:test";
import { type Account, type ApiResponse, Client } from "../support/client.ts";
import { lock } from "../support/dav-locks.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { ApiDocument, type JsonObject, asObject } from "../support/openapi.ts";
import {
  sampleOperations,
  sampleOptions,
  samplePath,
  type FieldValue,
  type SampledOperation,
} from "../support/sample-requests.ts";
import { sharedServer } from "../support/server.ts";
import { takeoutZip } from "../support/takeout.ts";
import { planUpload } from "../support/uploads.ts";
import { connectDav } from "../support/webdav.ts";

const server = sharedServer({ hasAccounts: true });

/** The kinds of things that ids identify. */
type Kind =
  | "file"
  | "folder"
  | "album"
  | "trashed"
  | "share"
  | "received"
  | "session"
  | "key"
  | "passkey"
  | "appPassword"
  | "lock"
  | "device"
  | "hold"
  | "upload"
  | "webhook"
  | "notification"
  | "conflict"
  | "user"
  | "group"
  | "import"
  | "invite";

/** A well-formed id of each kind that never existed. */
const unknownIds: Record<Kind, string> = {
  file: "file_00000000000000000000",
  folder: "fold_00000000000000000000",
  album: "albm_00000000000000000000",
  trashed: "file_00000000000000000001",
  share: "shr_00000000000000000000",
  received: "shr_00000000000000000001",
  session: "ses_00000000000000000000",
  key: "key_00000000000000000000",
  passkey: "psk_00000000000000000000",
  appPassword: "app_00000000000000000000",
  lock: "lck_00000000000000000000",
  device: "phone-0000000000000000",
  hold: "hold_00000000000000000000",
  upload: "upl_00000000000000000000",
  webhook: "whk_00000000000000000000",
  notification: "ntf_00000000000000000000",
  conflict: "cfl_00000000000000000000",
  user: "usr_00000000000000000000",
  invite: "inv_00000000000000000000",
  group: "grp_00000000000000000000",
  import: "imp_00000000000000000000",
};

/** The kind of `{id}` by the beginning of the path; the first match applies. */
const KINDS_BY_PATH: [string, Kind][] = [
  ["/api/files/folders/", "folder"],
  ["/api/files/trash/", "trashed"],
  ["/api/files/", "file"],
  ["/api/albums/", "album"],
  ["/api/pins/", "folder"],
  ["/api/mobile/files/", "file"],
  ["/api/shares/received/", "received"],
  ["/api/shares/", "share"],
  ["/api/users/sessions/", "session"],
  ["/api/users/api-keys/", "key"],
  ["/api/users/passkeys/", "passkey"],
  ["/api/users/app-passwords/", "appPassword"],
  ["/api/users/locks/", "lock"],
  ["/api/users/{id}/avatar", "user"],
  ["/api/users/groups/", "group"],
  ["/api/webhooks/", "webhook"],
  ["/api/imports/", "import"],
  ["/api/admin/imports/", "import"],
  ["/api/admin/users/", "user"],
  ["/api/admin/invites/", "invite"],
  ["/api/admin/groups/", "group"],
];
/** The kind of all other field names in paths, queries and bodies. */
const KINDS_BY_NAME: Record<string, Kind> = {
  fileId: "file",
  fileIds: "file",
  coverFileId: "file",
  before: "file",
  deviceId: "device",
  sessionId: "session",
  userId: "user",
  users: "user",
  groups: "group",
  appPasswordId: "appPassword",
  holdId: "hold",
  uploadId: "upload",
  conflictId: "conflict",
  ids: "notification",
  share: "received",
};
/** Fields that look like ids but are values of the caller's choice. */
const NOT_IDS = new Set(["localId", "clientId", "index", "n", "version", "token", "name"]);

/** Operations in which the caller chooses the id. */
const CHOOSES_IDS = new Set(["POST /api/mobile/auth/register"]);

let document: ApiDocument;
let operations: SampledOperation[];
let owner: Account;
let owned: Record<Kind, string>;
let stranger: Account;
let strangersPhone: TestDevice;
let administrator: Client;

beforeAll(async () => {
  document = await ApiDocument.load();
  operations = sampleOperations(document).filter(({ template }) => template.startsWith("/api/"));
  owner = await server().signUp();
  stranger = await server().signUp();
  strangersPhone = await registerDevice(server(), stranger);
  administrator = (await server().addUser(["--admin"])).client;
  owned = await createEverything(owner);
});

/** Creates one thing of each kind. Uses an unknown id for kinds that take more than one request to create. */
async function createEverything(account: Account): Promise<Record<Kind, string>> {
  const { client, email, password, id: user } = account;
  const readId = async (response: Promise<ApiResponse>, at = "data.id") => (await response).string(at);
  const folder = await client.folderId("secret folder");
  const file = await client.storedId("secret", { name: "secret.txt", fields: { folder: "/secret folder" } });
  await client.putContent(file, "secret too");
  const trashed = await client.storedId("secret", { name: "secret trash.txt" });
  expectStatus(await client.post("/api/files/trash", { fileIds: [trashed] }), 200);
  const friend = await server().signUp();
  const received = await readId(
    friend.client.post(`/api/files/${await friend.client.storedId("x")}/shares`, { user: email, permissions: "read" }),
  );
  const dav = await connectDav(account);
  expectStatus(await dav.put("secret%20lock.txt", "secret"), 201);
  await lock(dav, "secret%20lock.txt");
  const phone = await registerDevice(server(), { email, password });
  expectStatus(await phone.client.post("/api/mobile/push", { title: "secret message", body: "x" }), 200);
  const notification = (await phone.client.get("/api/mobile/notifications")).strings("data.notifications", "id")[0];
  return {
    ...unknownIds,
    album: await readId(client.post("/api/albums", { name: "secret album", fileIds: [file] })),
    file,
    folder,
    trashed,
    received,
    user,
    share: await readId(client.post(`/api/files/${file}/shares`, { label: "secret share" })),
    session: await readId(client.get("/api/auth/session"), "session.id"),
    key: await readId(client.post("/api/users/api-keys", { name: "secret key", currentPassword: password })),
    appPassword: await readId(
      client.post("/api/users/app-passwords", { name: "secret program", currentPassword: password }),
    ),
    lock: await readId(client.get("/api/users/locks"), "data.locks.0.id"),
    device: phone.deviceId,
    import: await importArchive(client),
    upload: (await planUpload(phone.client, "secret upload")).uploadId,
    webhook: await readId(
      client.post("/api/webhooks", { url: "https://example.org/secret", events: ["file.created"] }),
    ),
    notification: notification ?? unknownIds.notification,
  };
}

/** Imports an archive. @returns the id of the import, which has ended */
async function importArchive(client: Client): Promise<string> {
  const archive = await client.storedId(takeoutZip([]), { name: "secret.zip" });
  const id = (await client.post("/api/imports", { kind: "takeout", fileIds: [archive] })).string("data.id");
  await eventually("the import has ended", async () => {
    return (await client.get(`/api/imports/${id}`)).at("data.state") === "completed";
  });
  return id;
}

/** Everything that the owner sees, except dates that change by reading. */
async function readState({ client }: Account): Promise<unknown> {
  const { file, folder } = owned;
  const paths = [
    "/api/files?recursive=true",
    `/api/files/${file}`,
    `/api/files/${file}/versions`,
    `/api/files/${file}/shares`,
    `/api/files/folders/${folder}`,
    "/api/files/trash",
    "/api/files/tags",
    "/api/albums",
    `/api/albums/${owned.album}/items`,
    "/api/shares",
    "/api/shares/received",
    "/api/users/profile",
    "/api/users/settings",
    "/api/users/sessions",
    "/api/users/api-keys",
    "/api/users/locks",
    "/api/users/devices",
    "/api/webhooks",
    "/api/imports",
  ];
  const responses = await Promise.all(paths.map((path) => client.get(path)));
  const isConstant = (key: string) => !/^last|At$|^downloadCount$|^used/.test(key);
  return responses.map((response) =>
    JSON.parse(response.text, (key, value: unknown) => (isConstant(key) ? value : undefined)),
  );
}

function findKind(template: string, name: string): Kind | undefined {
  const known = KINDS_BY_NAME[name];
  if (known !== undefined) return known;
  if (NOT_IDS.has(name)) return undefined;
  const found = name === "id" ? KINDS_BY_PATH.find(([start]) => template.startsWith(start)) : undefined;
  return found?.[1];
}

/** The field names of an operation's request that are ids. */
function listIdFields({ template, parameters, query, body }: SampledOperation): string[] {
  const named = listFieldNames(body).filter((name) => findKind(template, name) !== undefined && name !== "id");
  const queryFields = query.filter((name) => findKind(template, name) !== undefined);
  return [...new Set([...parameters.filter((name) => !NOT_IDS.has(name)), ...queryFields, ...named])];
}

function listFieldNames(schema: JsonObject | undefined): string[] {
  if (schema === undefined) return [];
  const properties = asObject(schema["properties"]) ?? {};
  const below = [...Object.values(properties), schema["items"]].flatMap((value) => listFieldNames(asObject(value)));
  return [...Object.keys(properties), ...below];
}

/** Values for a request: the given ids, and the caller's own or plain values for all other fields. */
function chooseValues(
  operation: SampledOperation,
  ids: Record<Kind, string>,
  caller: Account,
  isLeftOut: (name: string) => boolean,
): FieldValue {
  const plain: Record<string, string> = {
    email: caller.email,
    password: caller.password,
    currentPassword: caller.password,
    folder: "/",
    path: "/",
    destinationFolder: "/",
    url: "https://example.org/x",
    since: new Date(Date.now() - 3_600_000).toISOString(),
    createdAt: "2026-01-02T03:04:05.678Z",
    add: "label",
    n: "1",
    index: "0",
    version: "1",
    recursive: "true",
  };
  const isShare = operation.template.endsWith("/shares");
  return (name) => {
    if (isLeftOut(name) || (isShare && name === "password")) return undefined;
    const kind = findKind(operation.template, name);
    return kind === undefined ? plain[name] : ids[kind];
  };
}

/** The stranger's client; for endpoints of devices, that of the stranger's device. */
function chooseClient({ template }: SampledOperation): Client {
  return template.startsWith("/api/mobile/") ? strangersPhone.client : stranger.client;
}

function maskIds(response: ApiResponse): string {
  let text = `${response.status} ${response.text}`;
  for (const ids of [owned, unknownIds]) for (const id of Object.values(ids)) text = text.replaceAll(id, "ID");
  return text.replaceAll(/"[^"]*":"\d{4}-\d\d-\d\dT[^"]*"/g, "AT").replaceAll(/req_\w+/g, "REQ");
}

test("every id field in the document has a kind", () => {
  const nameless = operations.flatMap(({ name, template, parameters }) =>
    parameters
      .filter((parameter) => !NOT_IDS.has(parameter) && findKind(template, parameter) === undefined)
      .map((parameter) => `${name} ${parameter}`),
  );
  expect(nameless).toEqual([]);
  expect(operations.filter((operation) => listIdFields(operation).length > 0).length).toBeGreaterThan(50);
});

test("a stranger who sends another user's ids gets the response for unknown ids", async () => {
  await rejectEach(operations, chooseClient);
});

test("so does an administrator, outside the admin API", async () => {
  const ofUsers = operations.filter(({ template }) => !/^\/api\/(admin|mobile)\//.test(template));
  await rejectEach(ofUsers, () => administrator);
});

async function rejectEach(tried: readonly SampledOperation[], clientOf: (operation: SampledOperation) => Client) {
  const before = await readState(owner);
  for (const operation of tried) {
    if (listIdFields(operation).length === 0 || CHOOSES_IDS.has(operation.name)) continue;
    const send = (ids: Record<Kind, string>, isLeftOut: (name: string) => boolean) => {
      const values = chooseValues(operation, ids, stranger, isLeftOut);
      return clientOf(operation).request(
        operation.method,
        samplePath(operation, values),
        sampleOptions(operation, values),
      );
    };
    await compare(operation, (ids) => send(ids, () => false));
    // A missing share is reported before anything else: try again without it.
    const idFields = listIdFields(operation);
    if (idFields.includes("share") && idFields.length > 1)
      await compare(operation, (ids) => send(ids, (name) => name === "share"));
  }
  expect(await readState(owner)).toEqual(before);
}

async function compare(operation: SampledOperation, send: (ids: Record<Kind, string>) => Promise<ApiResponse>) {
  const [foreign, unknown] = [await send(owned), await send(unknownIds)];
  const where = `${operation.name} ${foreign.status} ${foreign.text.slice(0, 500)}`;
  expect({ where, response: maskIds(foreign) }).toEqual({ where, response: maskIds(unknown) });
  expect({ where, isRejected: foreign.status >= 400 || isHarmless(operation) }).toEqual({ where, isRejected: true });
  expect({ where, showsSecret: /secret/.test(foreign.text) }).toEqual({ where, showsSecret: false });
}

/** Operations that respond with success to unknown ids: marks, pins to remove, and lists of durability. */
function isHarmless({ name }: SampledOperation): boolean {
  return [
    "DELETE /api/pins/{id}",
    "POST /api/mobile/notifications/read",
    "POST /api/users/notifications/read",
    "POST /api/mobile/files/durability",
    "POST /api/mobile/sync/files",
    "POST /api/mobile/conflicts/resolve",
    "POST /api/mobile/queue/add",
  ].includes(name);
}

testAllResponses(server);
