// Requests that carry bytes, whose sender loses the right to send while the bytes arrive: nothing may come of them.
import { describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, Client, recordOf } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/laws.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { boundary, formType } from "../support/multipart.ts";
import { RawConnection } from "../support/raw-http.ts";
import { sharedServer } from "../support/server.ts";
import { appendTus, newTus, offsetOf } from "../support/tus.ts";
import { complete, planUpload, putBytes, stateOf } from "../support/uploads.ts";

const server = sharedServer({ hasAccounts: true });
const content = "0123456789";

/** A request that was begun: its head and half of its body are with the server. */
interface Begun {
  /** Sends the rest and reads the answer. */
  finish(): Promise<ApiResponse>;
}

/** Begins a request with a body of two halves, and waits until the server has read its head. */
async function begin(method: string, path: string, headers: Record<string, string>, halves: [string, string]) {
  const connection = await RawConnection.open(server().port);
  const length = halves[0].length + halves[1].length;
  const lines = Object.entries({ host: "larder.test", "content-length": String(length), ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await connection.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${halves[0]}`);
  // The server takes connections in their order: by the second of these answers it has begun the request.
  for (let n = 0; n < 2; n++) expectStatus(await server().visitor.get("/health/live"), 200);
  const finish = async () => {
    try {
      await connection.write(halves[1]);
      const response = await connection.response(method);
      // The connection notes nothing: by this the rules for all answers hold for these, too.
      server().responses.push(recordOf(server().url, method, path, response));
      return response;
    } finally {
      connection.cut();
    }
  };
  return { finish } satisfies Begun;
}

const bearer = (token: string | undefined) => ({ authorization: `Bearer ${token}` });
const formHalves = (): [string, string] => [
  `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n01234`,
  `56789\r\n--${boundary}--\r\n`,
];
const tusHeaders = (offset: number) => ({
  "tus-resumable": "1.0.0",
  "content-type": "application/offset+octet-stream",
  "upload-offset": String(offset),
});

/** An account of its own with a phone, and a file to be replaced. */
async function setUp() {
  const account = await server().signUp();
  const phone = await registerDevice(server(), account);
  const fileId = await account.client.storedId("before", { name: "there.txt" });
  return { account, phone, fileId };
}

type ServerState = Awaited<ReturnType<typeof setUp>>;

/** Ways to send bytes with the credentials of a browser or a program. */
const ways: Record<string, (serverState: ServerState, headers: Record<string, string>) => Promise<Begun>> = {
  "POST files/upload": (_, headers) =>
    begin("POST", "/api/files/upload", { "content-type": formType, ...headers }, formHalves()),
  "PUT content": ({ fileId }, headers) => begin("PUT", `/api/files/${fileId}/content`, headers, ["01234", "56789"]),
  "tus PATCH": async ({ account }, headers) => {
    const path = await newTus(account.client, content.length, { filename: "slow.txt" });
    return begin("PATCH", path, { ...tusHeaders(0), ...headers }, ["01234", "56789"]);
  },
  "tus POST with bytes": (_, headers) =>
    begin(
      "POST",
      "/api/tus",
      { ...tusHeaders(0), "upload-length": "10", "upload-metadata": `filename ${btoa("slow.txt")}`, ...headers },
      ["01234", "56789"],
    ),
};

/** Ways of a phone. */
const phoneWays: Record<string, (serverState: ServerState) => Promise<Begun>> = {
  "POST mobile/upload": ({ phone }) =>
    begin(
      "POST",
      "/api/mobile/upload",
      { "content-type": formType, ...bearer(phone.tokens.accessToken) },
      formHalves(),
    ),
  "PUT of a chunk by token": async ({ phone }) => {
    const { chunks } = await planUpload(phone.client, content);
    const path = chunks[0]?.path.split("?")[0] ?? "";
    return begin("PUT", path, bearer(phone.tokens.accessToken), ["01234", "56789"]);
  },
  "PUT of a chunk by signature": async ({ phone }) => {
    const { chunks } = await planUpload(phone.client, content);
    return begin("PUT", chunks[0]?.path ?? "", {}, ["01234", "56789"]);
  },
  "PUT of a whole file by signature": async ({ phone }) => {
    const { path } = await planUpload(phone.client, content);
    return begin("PUT", path, {}, ["01234", "56789"]);
  },
};

/** What a phone says in JSON after its bytes. */
const phoneWords: typeof phoneWays = {
  "POST upload/complete": async ({ phone }) => {
    const { uploadId, chunks } = await planUpload(phone.client, content);
    expectStatus(await putBytes(phone.client, chunks[0]?.path ?? "", content), 200);
    const body = JSON.stringify({ uploadId });
    const headers = { "content-type": "application/json", ...bearer(phone.tokens.accessToken) };
    return begin("POST", "/api/mobile/upload/complete", headers, [body.slice(0, 5), body.slice(5)]);
  },
};

/** What ends the right to write, and with which answers. */
const ends: Record<string, { status: number; end: (account: Account) => Promise<void> }> = {
  "signed out everywhere": {
    status: 401,
    end: async ({ client }) => expectStatus(await client.post("/api/auth/signout", { everywhere: true }), 200),
  },
  disabled: { status: 401, end: ({ id }) => server().change(id, { disabled: true }) },
  "made a viewer": { status: 403, end: ({ id }) => server().change(id, { role: "viewer" }) },
};

/** As an administrator changes an account beside the server: by a process of its own. */
async function setUser(email: string, ...changes: string[]): Promise<void> {
  const { code, stderr } = await server().larder(["user", "set", email, ...changes]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

/** Signs in again, after a disabled account was enabled. */
async function signInAgain({ id, email, password }: Account): Promise<Client> {
  let response = await server().visitor.post("/api/auth/signin", { email, password });
  if (response.status === 403) {
    await server().change(id, { disabled: false });
    response = await server().visitor.post("/api/auth/signin", { email, password });
  }
  return new Client(server(), response.string("token"));
}

/** Only what was there before the request is there. */
async function expectNothingMade({ account }: ServerState): Promise<void> {
  const client = await signInAgain(account);
  expect(await client.names()).toEqual(["there.txt"]);
  const [file] = (await client.get("/api/files")).list("data.files");
  expect(file).toMatchObject({ size: "before".length, version: 1 });
}

describe("bytes on their way from an account", () => {
  for (const [wayName, way] of Object.entries(ways)) {
    for (const [endName, { status, end }] of Object.entries(ends)) {
      test(`${wayName}: ${endName}: ${status} and nothing is made`, async () => {
        const serverState = await setUp();
        const begun = await way(serverState, bearer(serverState.account.token));
        await end(serverState.account);
        expectStatus(await begun.finish(), status);
        await expectNothingMade(serverState);
      });
    }

    test(`${wayName}: the API key that sends is deleted: 401 and nothing is made`, async () => {
      const serverState = await setUp();
      const { client } = serverState.account;
      const made = await client.post("/api/users/api-keys", {
        name: "script",
        currentPassword: serverState.account.password,
      });
      const begun = await way(serverState, { "x-api-key": made.string("data.key") });
      expectStatus(await client.delete(`/api/users/api-keys/${made.string("data.id")}`), 200);
      expectStatus(await begun.finish(), 401);
      await expectNothingMade(serverState);
    });

    test(`${wayName}: a session that is refreshed while it sends counts on`, async () => {
      const serverState = await setUp();
      const begun = await way(serverState, bearer(serverState.account.token));
      const { client } = serverState.account;
      const refreshed = await client.post("/api/auth/refresh");
      expectStatus(refreshed, 200);
      const next = new Client(server(), refreshed.string("token"));
      expectStatus(await next.post("/api/auth/refresh"), 200);
      const response = await begun.finish();
      expect([200, 201, 204]).toContain(response.status);
    });

    test(`${wayName}: a sign-out after a refresh ends it, too`, async () => {
      const serverState = await setUp();
      const begun = await way(serverState, bearer(serverState.account.token));
      const refreshed = await serverState.account.client.post("/api/auth/refresh");
      const next = new Client(server(), refreshed.string("token"));
      expectStatus(await next.post("/api/auth/signout"), 200);
      expectStatus(await begun.finish(), 401);
      await expectNothingMade(serverState);
    });
  }

  test("the sign-out of another session changes nothing", async () => {
    const serverState = await setUp();
    const { email, password, token } = serverState.account;
    const other = await server().visitor.post("/api/auth/signin", { email, password });
    const begun = await begin(
      "POST",
      "/api/files/upload",
      { "content-type": formType, ...bearer(token) },
      formHalves(),
    );
    expectStatus(await new Client(server(), other.string("token")).post("/api/auth/signout"), 200);
    expectStatus(await begun.finish(), 201);
  });

  test("bytes of a tus upload that were acknowledged stay, and the account continues when it may again", async () => {
    const { account } = await setUp();
    const path = await newTus(account.client, content.length, { filename: "slow.txt" });
    const first = await begin("PATCH", path, { ...tusHeaders(0), ...bearer(account.token) }, ["01", "23"]);
    expectStatus(await first.finish(), 204);
    const second = await begin("PATCH", path, { ...tusHeaders(4), ...bearer(account.token) }, ["45", "6789"]);
    await setUser(account.email, "--role", "viewer");
    expectStatus(await second.finish(), 403);
    await setUser(account.email, "--role", "user");
    const offset = await offsetOf(account.client, path);
    expect(offset).toBeGreaterThanOrEqual(4);
    const finished = await appendTus(account.client, path, offset, content.slice(offset));
    expectStatus(finished, 204);
    const stored = await account.client.get(`/api/files/${finished.header("larder-file-id")}/download`);
    expect(stored.text).toBe(content);
  });
});

describe("bytes on their way from a phone", () => {
  for (const [wayName, way] of Object.entries({ ...phoneWays, ...phoneWords })) {
    const phoneEnds: typeof ends = {
      ...ends,
      "removed with its phone": {
        status: 401,
        end: async ({ client }) => {
          const [device] = (await client.get("/api/users/devices")).list("data.devices");
          const id = (device as { id: string }).id;
          expectStatus(await client.delete(`/api/users/devices/${id}`), 200);
        },
      },
    };
    for (const [endName, { status, end }] of Object.entries(phoneEnds)) {
      test(`${wayName}: ${endName}: ${status} and nothing is made`, async () => {
        const serverState = await setUp();
        const begun = await way(serverState);
        await end(serverState.account);
        expectStatus(await begun.finish(), status);
        await expectNothingMade(serverState);
      });
    }
  }

  for (const [wayName, way] of Object.entries(phoneWays)) {
    test(`${wayName}: a phone that exchanges its refresh token while it sends is let finish`, async () => {
      const serverState = await setUp();
      const begun = await way(serverState);
      await refreshOften(serverState.phone);
      expect([200, 201]).toContain((await begun.finish()).status);
    });
  }

  test("a chunk that came too late does not count, the ones before do", async () => {
    const { account, phone } = await setUp();
    const bytes = "a".repeat(1024) + "b".repeat(1024);
    const plan = await planUpload(phone.client, bytes);
    expectStatus(await putBytes(phone.client, plan.chunks[0]?.path ?? "", bytes.slice(0, 1024)), 200);
    const path = plan.chunks[1]?.path.split("?")[0] ?? "";
    const late = await begin("PUT", path, bearer(phone.client.token), [bytes.slice(1024, 1500), bytes.slice(1500)]);
    await setUser(account.email, "--role", "viewer");
    expectStatus(await late.finish(), 403);
    await setUser(account.email, "--role", "user");
    expect((await stateOf(phone.client, plan.uploadId)).at("data.completedChunks")).toEqual([0]);
    expectStatus(await putBytes(phone.client, plan.chunks[1]?.path ?? "", bytes.slice(1024)), 200);
    expectStatus(await complete(phone.client, plan.uploadId), 200);
  });
});

describe("bytes on their way into a drop box", () => {
  const openBox = async ({ client }: Account, settings: object = {}) => {
    const folder = await client.folderId("Box");
    const made = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload", ...settings });
    return { id: made.string("data.id"), token: made.string("data.token") };
  };
  const boxWays: Record<string, (token: string) => Promise<Begun>> = {
    form: (token) => begin("POST", `/api/public/${token}/upload`, { "content-type": formType }, formHalves()),
    tus: async (token) => {
      const home = `/api/public/${token}/tus`;
      const path = await newTus(server().visitor, content.length, { filename: "slow.txt" }, { home });
      return begin("PATCH", path, tusHeaders(0), ["01234", "56789"]);
    },
  };
  for (const [name, way] of Object.entries(boxWays)) {
    test(`${name}: the link is revoked: 404 and nothing is made`, async () => {
      const { account } = await setUp();
      const box = await openBox(account);
      const begun = await way(box.token);
      expectStatus(await account.client.delete(`/api/shares/${box.id}`), 200);
      expectStatus(await begun.finish(), 404);
      expect(await account.client.names("/Box")).toEqual([]);
    });

    test(`${name}: a password is put on the link: 401 and nothing is made`, async () => {
      const { account } = await setUp();
      const box = await openBox(account);
      const begun = await way(box.token);
      expectStatus(await account.client.patch(`/api/shares/${box.id}`, { password: "not so open" }), 200);
      expectStatus(await begun.finish(), 401);
      expect(await account.client.names("/Box")).toEqual([]);
    });

    test(`${name}: the owner is disabled: 404 and nothing is made`, async () => {
      const { account } = await setUp();
      const box = await openBox(account);
      const begun = await way(box.token);
      await setUser(account.email, "--disable");
      expectStatus(await begun.finish(), 404);
      expect(await (await signInAgain(account)).names("/Box")).toEqual([]);
    });
  }
});

/** More often than a device has sessions at once. */
async function refreshOften(phone: TestDevice): Promise<void> {
  let { refreshToken } = phone.tokens;
  for (let n = 0; n < 6; n++) {
    const response = await server().visitor.post("/api/mobile/auth/refresh", {
      refreshToken,
      deviceId: phone.deviceId,
    });
    expectStatus(response, 200);
    refreshToken = response.string("tokens.refreshToken");
  }
}

testAllResponses(server);
