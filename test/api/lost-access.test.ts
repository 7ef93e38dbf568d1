// Uploads whose sender loses access while the bytes arrive: nothing may be stored of them.
import { describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, Client, toRecord } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { boundary, formType } from "../support/multipart.ts";
import { RawConnection } from "../support/raw-http.ts";
import { sharedServer } from "../support/server.ts";
import { appendTus, createTus, readOffset } from "../support/tus.ts";
import { completeUpload, planUpload, putBytes, getUploadState } from "../support/uploads.ts";

const server = sharedServer({ hasAccounts: true });
const content = "0123456789";

/** A request whose headers and first half of the body the server has received. */
interface StartedRequest {
  /** Sends the rest, and returns the response. */
  finish(): Promise<ApiResponse>;
}

/** Sends the headers and the first half of the body, and waits until the server has read the headers. */
async function start(method: string, path: string, headers: Record<string, string>, halves: [string, string]) {
  const connection = await RawConnection.open(server().port);
  const length = halves[0].length + halves[1].length;
  const lines = Object.entries({ host: "larder.test", "content-length": String(length), ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await connection.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${halves[0]}`);
  // The server accepts connections in order: once it has responded to both, it has started with the request.
  for (let n = 0; n < 2; n++) expectStatus(await server().visitor.get("/health/live"), 200);
  const finish = async () => {
    try {
      await connection.write(halves[1]);
      const response = await connection.response(method);
      // RawConnection records no responses; recorded here, the checks for all responses include these.
      server().responses.push(toRecord(server().url, method, path, response));
      return response;
    } finally {
      connection.cut();
    }
  };
  return { finish } satisfies StartedRequest;
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

/** Creates an account with a phone, and a file to replace. */
async function createAccount() {
  const account = await server().signUp();
  const phone = await registerDevice(server(), account);
  const fileId = await account.client.storedId("before", { name: "there.txt" });
  return { account, phone, fileId };
}

type AccountState = Awaited<ReturnType<typeof createAccount>>;

/** Uploads with the credentials of a browser or a program. */
const uploads: Record<string, (state: AccountState, headers: Record<string, string>) => Promise<StartedRequest>> = {
  "POST files/upload": (_, headers) =>
    start("POST", "/api/files/upload", { "content-type": formType, ...headers }, formHalves()),
  "PUT content": ({ fileId }, headers) => start("PUT", `/api/files/${fileId}/content`, headers, ["01234", "56789"]),
  "tus PATCH": async ({ account }, headers) => {
    const path = await createTus(account.client, content.length, { filename: "slow.txt" });
    return start("PATCH", path, { ...tusHeaders(0), ...headers }, ["01234", "56789"]);
  },
  "tus POST with bytes": (_, headers) =>
    start(
      "POST",
      "/api/tus",
      { ...tusHeaders(0), "upload-length": "10", "upload-metadata": `filename ${btoa("slow.txt")}`, ...headers },
      ["01234", "56789"],
    ),
};

/** Uploads of a phone. */
const phoneUploads: Record<string, (state: AccountState) => Promise<StartedRequest>> = {
  "POST mobile/upload": ({ phone }) =>
    start(
      "POST",
      "/api/mobile/upload",
      { "content-type": formType, ...bearer(phone.tokens.accessToken) },
      formHalves(),
    ),
  "PUT of a chunk by token": async ({ phone }) => {
    const { chunks } = await planUpload(phone.client, content);
    const path = chunks[0]?.path.split("?")[0] ?? "";
    return start("PUT", path, bearer(phone.tokens.accessToken), ["01234", "56789"]);
  },
  "PUT of a chunk by signature": async ({ phone }) => {
    const { chunks } = await planUpload(phone.client, content);
    return start("PUT", chunks[0]?.path ?? "", {}, ["01234", "56789"]);
  },
  "PUT of a whole file by signature": async ({ phone }) => {
    const { path } = await planUpload(phone.client, content);
    return start("PUT", path, {}, ["01234", "56789"]);
  },
};

/** JSON requests of a phone after its bytes. */
const phoneJsonRequests: typeof phoneUploads = {
  "POST upload/complete": async ({ phone }) => {
    const { uploadId, chunks } = await planUpload(phone.client, content);
    expectStatus(await putBytes(phone.client, chunks[0]?.path ?? "", content), 200);
    const body = JSON.stringify({ uploadId });
    const headers = { "content-type": "application/json", ...bearer(phone.tokens.accessToken) };
    return start("POST", "/api/mobile/upload/complete", headers, [body.slice(0, 5), body.slice(5)]);
  },
};

/** What ends the sender's access, and the status of the response. */
const revocations: Record<string, { status: number; revoke: (account: Account) => Promise<void> }> = {
  "signed out everywhere": {
    status: 401,
    revoke: async ({ client }) => expectStatus(await client.post("/api/auth/signout", { everywhere: true }), 200),
  },
  disabled: { status: 401, revoke: ({ id }) => server().change(id, { disabled: true }) },
  "made a viewer": { status: 403, revoke: ({ id }) => server().change(id, { role: "viewer" }) },
};

/** Changes an account from another process, as an administrator does while the server runs. */
async function setUser(email: string, ...changes: string[]): Promise<void> {
  const { code, stderr } = await server().larder(["user", "set", email, ...changes]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

/** Signs in again; enables the account first if it is disabled. */
async function signInAgain({ id, email, password }: Account): Promise<Client> {
  let response = await server().visitor.post("/api/auth/signin", { email, password });
  if (response.status === 403) {
    await server().change(id, { disabled: false });
    response = await server().visitor.post("/api/auth/signin", { email, password });
  }
  return new Client(server(), response.string("token"));
}

/** The account has only the file from before the request. */
async function expectNothingStored({ account }: AccountState): Promise<void> {
  const client = await signInAgain(account);
  expect(await client.names()).toEqual(["there.txt"]);
  const [file] = (await client.get("/api/files")).list("data.files");
  expect(file).toMatchObject({ size: "before".length, version: 1 });
}

describe("an upload to an account", () => {
  for (const [uploadName, upload] of Object.entries(uploads)) {
    for (const [revocationName, { status, revoke }] of Object.entries(revocations)) {
      test(`${uploadName}: ${revocationName}: ${status}, and nothing is stored`, async () => {
        const state = await createAccount();
        const started = await upload(state, bearer(state.account.token));
        await revoke(state.account);
        expectStatus(await started.finish(), status);
        await expectNothingStored(state);
      });
    }

    test(`${uploadName}: its API key is deleted: 401, and nothing is stored`, async () => {
      const state = await createAccount();
      const { client } = state.account;
      const made = await client.post("/api/users/api-keys", {
        name: "script",
        currentPassword: state.account.password,
      });
      const started = await upload(state, { "x-api-key": made.string("data.key") });
      expectStatus(await client.delete(`/api/users/api-keys/${made.string("data.id")}`), 200);
      expectStatus(await started.finish(), 401);
      await expectNothingStored(state);
    });

    test(`${uploadName}: continues if its session is refreshed`, async () => {
      const state = await createAccount();
      const started = await upload(state, bearer(state.account.token));
      const { client } = state.account;
      const refreshed = await client.post("/api/auth/refresh");
      expectStatus(refreshed, 200);
      const next = new Client(server(), refreshed.string("token"));
      expectStatus(await next.post("/api/auth/refresh"), 200);
      const response = await started.finish();
      expect([200, 201, 204]).toContain(response.status);
    });

    test(`${uploadName}: a sign-out after a refresh: 401, and nothing is stored`, async () => {
      const state = await createAccount();
      const started = await upload(state, bearer(state.account.token));
      const refreshed = await state.account.client.post("/api/auth/refresh");
      const next = new Client(server(), refreshed.string("token"));
      expectStatus(await next.post("/api/auth/signout"), 200);
      expectStatus(await started.finish(), 401);
      await expectNothingStored(state);
    });
  }

  test("continues if another session signs out", async () => {
    const state = await createAccount();
    const { email, password, token } = state.account;
    const other = await server().visitor.post("/api/auth/signin", { email, password });
    const started = await start(
      "POST",
      "/api/files/upload",
      { "content-type": formType, ...bearer(token) },
      formHalves(),
    );
    expectStatus(await new Client(server(), other.string("token")).post("/api/auth/signout"), 200);
    expectStatus(await started.finish(), 201);
  });

  test("acknowledged bytes of a tus upload stay, and the account continues when it may write again", async () => {
    const { account } = await createAccount();
    const path = await createTus(account.client, content.length, { filename: "slow.txt" });
    const first = await start("PATCH", path, { ...tusHeaders(0), ...bearer(account.token) }, ["01", "23"]);
    expectStatus(await first.finish(), 204);
    const second = await start("PATCH", path, { ...tusHeaders(4), ...bearer(account.token) }, ["45", "6789"]);
    await setUser(account.email, "--role", "viewer");
    expectStatus(await second.finish(), 403);
    await setUser(account.email, "--role", "user");
    const offset = await readOffset(account.client, path);
    expect(offset).toBeGreaterThanOrEqual(4);
    const finished = await appendTus(account.client, path, offset, content.slice(offset));
    expectStatus(finished, 204);
    const stored = await account.client.get(`/api/files/${finished.header("larder-file-id")}/download`);
    expect(stored.text).toBe(content);
  });
});

describe("an upload of a phone", () => {
  for (const [uploadName, upload] of Object.entries({ ...phoneUploads, ...phoneJsonRequests })) {
    const phoneRevocations: typeof revocations = {
      ...revocations,
      "phone removed": {
        status: 401,
        revoke: async ({ client }) => {
          const [device] = (await client.get("/api/users/devices")).list("data.devices");
          const id = (device as { id: string }).id;
          expectStatus(await client.delete(`/api/users/devices/${id}`), 200);
        },
      },
    };
    for (const [revocationName, { status, revoke }] of Object.entries(phoneRevocations)) {
      test(`${uploadName}: ${revocationName}: ${status}, and nothing is stored`, async () => {
        const state = await createAccount();
        const started = await upload(state);
        await revoke(state.account);
        expectStatus(await started.finish(), status);
        await expectNothingStored(state);
      });
    }
  }

  for (const [uploadName, upload] of Object.entries(phoneUploads)) {
    test(`${uploadName}: finishes if the phone exchanges its refresh token`, async () => {
      const state = await createAccount();
      const started = await upload(state);
      await refreshOften(state.phone);
      expect([200, 201]).toContain((await started.finish()).status);
    });
  }

  test("a chunk finished after the loss of access does not count, earlier ones do", async () => {
    const { account, phone } = await createAccount();
    const bytes = "a".repeat(1024) + "b".repeat(1024);
    const plan = await planUpload(phone.client, bytes);
    expectStatus(await putBytes(phone.client, plan.chunks[0]?.path ?? "", bytes.slice(0, 1024)), 200);
    const path = plan.chunks[1]?.path.split("?")[0] ?? "";
    const late = await start("PUT", path, bearer(phone.client.token), [bytes.slice(1024, 1500), bytes.slice(1500)]);
    await setUser(account.email, "--role", "viewer");
    expectStatus(await late.finish(), 403);
    await setUser(account.email, "--role", "user");
    expect((await getUploadState(phone.client, plan.uploadId)).at("data.completedChunks")).toEqual([0]);
    expectStatus(await putBytes(phone.client, plan.chunks[1]?.path ?? "", bytes.slice(1024)), 200);
    expectStatus(await completeUpload(phone.client, plan.uploadId), 200);
  });
});

describe("an upload into a drop box", () => {
  const createDropBox = async ({ client }: Account, settings: object = {}) => {
    const folder = await client.folderId("Box");
    const made = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload", ...settings });
    return { id: made.string("data.id"), token: made.string("data.token") };
  };
  const dropBoxUploads: Record<string, (token: string) => Promise<StartedRequest>> = {
    form: (token) => start("POST", `/api/public/${token}/upload`, { "content-type": formType }, formHalves()),
    tus: async (token) => {
      const home = `/api/public/${token}/tus`;
      const path = await createTus(server().visitor, content.length, { filename: "slow.txt" }, { home });
      return start("PATCH", path, tusHeaders(0), ["01234", "56789"]);
    },
  };
  for (const [name, upload] of Object.entries(dropBoxUploads)) {
    test(`${name}: the link is revoked: 404, and nothing is stored`, async () => {
      const { account } = await createAccount();
      const box = await createDropBox(account);
      const started = await upload(box.token);
      expectStatus(await account.client.delete(`/api/shares/${box.id}`), 200);
      expectStatus(await started.finish(), 404);
      expect(await account.client.names("/Box")).toEqual([]);
    });

    test(`${name}: the link gets a password: 401, and nothing is stored`, async () => {
      const { account } = await createAccount();
      const box = await createDropBox(account);
      const started = await upload(box.token);
      expectStatus(await account.client.patch(`/api/shares/${box.id}`, { password: "not so open" }), 200);
      expectStatus(await started.finish(), 401);
      expect(await account.client.names("/Box")).toEqual([]);
    });

    test(`${name}: the owner is disabled: 404, and nothing is stored`, async () => {
      const { account } = await createAccount();
      const box = await createDropBox(account);
      const started = await upload(box.token);
      await setUser(account.email, "--disable");
      expectStatus(await started.finish(), 404);
      expect(await (await signInAgain(account)).names("/Box")).toEqual([]);
    });
  }
});

/** Refreshes more often than a device can have sessions at once. */
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
