// Another user's id in each place of each endpoint, made from the OpenAPI document: it is answered exactly as an id that
// never was, and nothing of the other's changes. An endpoint with a place that nobody knows fails here
// until its kind is told below.
import { beforeAll, expect, test } from "bun:test";
import { type Account, type ApiResponse, Client } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
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
import { planUpload } from "../support/uploads.ts";

const server = sharedServer({ hasAccounts: true });

/** What an id is the id of. */
type Kind =
  | "file"
  | "folder"
  | "trashed"
  | "share"
  | "received"
  | "session"
  | "key"
  | "passkey"
  | "device"
  | "hold"
  | "upload"
  | "webhook"
  | "notification"
  | "conflict"
  | "user"
  | "invite";

/** Whose ids are tried: a well-formed id of each kind that never was. */
const unknownIds: Record<Kind, string> = {
  file: "file_00000000000000000000",
  folder: "fold_00000000000000000000",
  trashed: "file_00000000000000000001",
  share: "shr_00000000000000000000",
  received: "shr_00000000000000000001",
  session: "ses_00000000000000000000",
  key: "key_00000000000000000000",
  passkey: "psk_00000000000000000000",
  device: "phone-0000000000000000",
  hold: "hold_00000000000000000000",
  upload: "upl_00000000000000000000",
  webhook: "whk_00000000000000000000",
  notification: "ntf_00000000000000000000",
  conflict: "cfl_00000000000000000000",
  user: "usr_00000000000000000000",
  invite: "inv_00000000000000000000",
};

/** Kinds of `{id}`, by the beginning of the path; the first that fits. */
const KINDS_BY_PATH: [string, Kind][] = [
  ["/api/files/folders/", "folder"],
  ["/api/files/trash/", "trashed"],
  ["/api/files/", "file"],
  ["/api/mobile/files/", "file"],
  ["/api/shares/received/", "received"],
  ["/api/shares/", "share"],
  ["/api/users/sessions/", "session"],
  ["/api/users/api-keys/", "key"],
  ["/api/users/passkeys/", "passkey"],
  ["/api/webhooks/", "webhook"],
  ["/api/admin/users/", "user"],
  ["/api/admin/invites/", "invite"],
];
/** Kinds of all other names, in paths, queries and bodies. */
const KINDS_BY_NAME: Record<string, Kind> = {
  fileId: "file",
  fileIds: "file",
  deviceId: "device",
  sessionId: "session",
  holdId: "hold",
  uploadId: "upload",
  conflictId: "conflict",
  ids: "notification",
  share: "received",
};
/** Names that end like ids and are none: the caller's own words. */
const NOT_IDS = new Set(["localId", "clientId", "index", "n", "version", "token", "name"]);

/** Here the caller chooses the id: a device is known by its own word. */
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
  owned = await everythingOf(owner);
});

/** One thing of each kind; where a kind takes more than a request to make, an id that never was stands in. */
async function everythingOf({ client, email, password, id: user }: Account): Promise<Record<Kind, string>> {
  const made = async (response: Promise<ApiResponse>, at = "data.id") => (await response).string(at);
  const folder = await client.folderId("secret folder");
  const file = await client.storedId("secret", { name: "secret.txt", fields: { folder: "/secret folder" } });
  await client.putContent(file, "secret too");
  const trashed = await client.storedId("secret", { name: "secret trash.txt" });
  expectStatus(await client.post("/api/files/trash", { fileIds: [trashed] }), 200);
  const friend = await server().signUp();
  const received = await made(
    friend.client.post(`/api/files/${await friend.client.storedId("x")}/shares`, { user: email, permissions: "read" }),
  );
  const phone = await registerDevice(server(), { email, password });
  expectStatus(await phone.client.post("/api/mobile/push", { title: "secret message", body: "x" }), 200);
  const notification = (await phone.client.get("/api/mobile/notifications")).strings("data.notifications", "id")[0];
  return {
    ...unknownIds,
    file,
    folder,
    trashed,
    received,
    user,
    share: await made(client.post(`/api/files/${file}/shares`, { label: "secret share" })),
    session: await made(client.get("/api/auth/session"), "session.id"),
    key: await made(client.post("/api/users/api-keys", { name: "secret key", currentPassword: password })),
    device: phone.deviceId,
    upload: (await planUpload(phone.client, "secret upload")).uploadId,
    webhook: await made(client.post("/api/webhooks", { url: "https://example.org/secret", events: ["file.created"] })),
    notification: notification ?? unknownIds.notification,
  };
}

/** All that the owner sees of their own, but for dates that reading changes. */
async function stateOf({ client }: Account): Promise<unknown> {
  const { file, folder } = owned;
  const paths = [
    "/api/files?recursive=true",
    `/api/files/${file}`,
    `/api/files/${file}/versions`,
    `/api/files/${file}/shares`,
    `/api/files/folders/${folder}`,
    "/api/files/trash",
    "/api/files/tags",
    "/api/shares",
    "/api/shares/received",
    "/api/users/profile",
    "/api/users/settings",
    "/api/users/sessions",
    "/api/users/api-keys",
    "/api/users/devices",
    "/api/webhooks",
  ];
  const responses = await Promise.all(paths.map((path) => client.get(path)));
  const isStill = (key: string) => !/^last|At$|^downloadCount$|^used/.test(key);
  return responses.map((response) =>
    JSON.parse(response.text, (key, value: unknown) => (isStill(key) ? value : undefined)),
  );
}

function kindOf(template: string, name: string): Kind | undefined {
  const known = KINDS_BY_NAME[name];
  if (known !== undefined) return known;
  if (NOT_IDS.has(name)) return undefined;
  const found = name === "id" ? KINDS_BY_PATH.find(([start]) => template.startsWith(start)) : undefined;
  return found?.[1];
}

/** Names in an operation's request that stand for ids. */
function placesOf({ template, parameters, query, body }: SampledOperation): string[] {
  const named = namesIn(body).filter((name) => kindOf(template, name) !== undefined && name !== "id");
  const asked = query.filter((name) => kindOf(template, name) !== undefined);
  return [...new Set([...parameters.filter((name) => !NOT_IDS.has(name)), ...asked, ...named])];
}

function namesIn(schema: JsonObject | undefined): string[] {
  if (schema === undefined) return [];
  const properties = asObject(schema["properties"]) ?? {};
  const below = [...Object.values(properties), schema["items"]].flatMap((value) => namesIn(asObject(value)));
  return [...Object.keys(properties), ...below];
}

/** Values of a request in which each id is of these; all else is the caller's own, or a plain word. */
function valuesOf(
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
    const kind = kindOf(operation.template, name);
    return kind === undefined ? plain[name] : ids[kind];
  };
}

/** Who asks: a device's own token where only that is let in. */
function clientFor({ template }: SampledOperation): Client {
  return template.startsWith("/api/mobile/") ? strangersPhone.client : stranger.client;
}

function masked(response: ApiResponse): string {
  let text = `${response.status} ${response.text}`;
  for (const ids of [owned, unknownIds]) for (const id of Object.values(ids)) text = text.replaceAll(id, "ID");
  return text.replaceAll(/"[^"]*":"\d{4}-\d\d-\d\dT[^"]*"/g, "AT").replaceAll(/req_\w+/g, "REQ");
}

test("every place for an id in the document has a kind", () => {
  const nameless = operations.flatMap(({ name, template, parameters }) =>
    parameters
      .filter((parameter) => !NOT_IDS.has(parameter) && kindOf(template, parameter) === undefined)
      .map((parameter) => `${name} ${parameter}`),
  );
  expect(nameless).toEqual([]);
  expect(operations.filter((operation) => placesOf(operation).length > 0).length).toBeGreaterThan(50);
});

test("a stranger who gives another's ids is answered as if they never were", async () => {
  await rejectEach(operations, clientFor);
});

test("so is an administrator, outside of administration", async () => {
  const ofUsers = operations.filter(({ template }) => !/^\/api\/(admin|mobile)\//.test(template));
  await rejectEach(ofUsers, () => administrator);
});

async function rejectEach(tried: readonly SampledOperation[], clientOf: (operation: SampledOperation) => Client) {
  const before = await stateOf(owner);
  for (const operation of tried) {
    if (placesOf(operation).length === 0 || CHOOSES_IDS.has(operation.name)) continue;
    const ask = (ids: Record<Kind, string>, isLeftOut: (name: string) => boolean) => {
      const values = valuesOf(operation, ids, stranger, isLeftOut);
      return clientOf(operation).request(
        operation.method,
        samplePath(operation, values),
        sampleOptions(operation, values),
      );
    };
    await compare(operation, (ids) => ask(ids, () => false));
    // A share that is not there is told before anything else: once more without it.
    const places = placesOf(operation);
    if (places.includes("share") && places.length > 1)
      await compare(operation, (ids) => ask(ids, (name) => name === "share"));
  }
  expect(await stateOf(owner)).toEqual(before);
}

async function compare(operation: SampledOperation, ask: (ids: Record<Kind, string>) => Promise<ApiResponse>) {
  const [foreign, unknown] = [await ask(owned), await ask(unknownIds)];
  const where = `${operation.name} ${foreign.status} ${foreign.text.slice(0, 500)}`;
  expect({ where, response: masked(foreign) }).toEqual({ where, response: masked(unknown) });
  expect({ where, isRejected: foreign.status >= 400 || isHarmless(operation) }).toEqual({ where, isRejected: true });
  expect({ where, tells: /secret/.test(foreign.text) }).toEqual({ where, tells: false });
}

/** What answers with success to ids that it doesn't know: marks, and lists of what is safe. */
function isHarmless({ name }: SampledOperation): boolean {
  return [
    "POST /api/mobile/notifications/read",
    "POST /api/mobile/files/durability",
    "POST /api/mobile/sync/files",
    "POST /api/mobile/conflicts/resolve",
    "POST /api/mobile/queue/add",
  ].includes(name);
}

testAllResponses(server);
