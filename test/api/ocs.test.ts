import { beforeAll, describe, expect, test } from "bun:test";
import type { Account, ApiResponse } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
let account: Account;
let basic: Record<string, string>;

/** Makes an app password. @returns the header for requests with it */
async function connect({ client, password, email }: Account, settings: object = {}): Promise<Record<string, string>> {
  const made = await client.post("/api/users/app-passwords", { name: "test", currentPassword: password, ...settings });
  expectStatus(made, 201);
  const credentials = Buffer.from(`${email}:${made.string("data.password")}`).toString("base64");
  return { authorization: `Basic ${credentials}` };
}

function get(path: string, headers: Record<string, string> = basic): Promise<ApiResponse> {
  return server().visitor.get(path, headers);
}

beforeAll(async () => {
  account = await server().signUp({ name: "Ann <&> Co" });
  basic = await connect(account);
});

describe("what clients ask before they sign in", () => {
  test("/status.php describes the server", async () => {
    const response = await get("/status.php", {});
    expectStatus(response, 200);
    expect(response.json).toEqual({
      installed: true,
      maintenance: false,
      needsDbUpgrade: false,
      version: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/),
      versionstring: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      edition: "",
      productname: "Larder",
      extendedSupport: false,
    });
  });

  test("/index.php/204 answers the check for a connection", async () => {
    expectStatus(await get("/index.php/204", {}), 204);
  });

  test("the capabilities need no sign-in, and announce only what is served", async () => {
    for (const version of ["v1.php", "v2.php"]) {
      const response = await get(`/ocs/${version}/cloud/capabilities?format=json`, {});
      expectStatus(response, 200);
      expect(response.at("ocs.meta")).toEqual({
        status: "ok",
        statuscode: version === "v1.php" ? 100 : 200,
        message: "OK",
      });
      const data = response.at("ocs.data.capabilities");
      expect(data).toMatchObject({
        core: { pollinterval: 30_000, "webdav-root": "remote.php/webdav", status: { productname: "Larder" } },
        dav: { chunking: "1.0" },
        files: { bigfilechunking: true, undelete: false, versioning: false },
        checksums: { preferredUploadType: "SHA256" },
        files_sharing: { api_enabled: false },
      });
      expect(response.at("ocs.data.capabilities.dav")).not.toHaveProperty("bulkupload");
      expect(response.string("ocs.data.version.string")).toBe((await get("/status.php", {})).string("versionstring"));
    }
  });
});

describe("the account", () => {
  test("cloud/user shows it in JSON", async () => {
    const client = account.client;
    await client.upload("12345678", { name: "a.txt" });
    for (const path of ["/ocs/v1.php/cloud/user", "/ocs/v2.php/cloud/user", "/ocs/v2.php/cloud/users/"]) {
      const id = path.endsWith("/") ? encodeURIComponent(account.email) : "";
      const response = await get(`${path}${id}?format=json`);
      expectStatus(response, 200);
      expect(response.number("ocs.meta.statuscode")).toBe(path.includes("v1") ? 100 : 200);
      expect(response.at("ocs.data")).toMatchObject({
        id: account.email,
        email: account.email,
        "display-name": "Ann <&> Co",
        displayname: "Ann <&> Co",
      });
      const used = response.number("ocs.data.quota.used");
      expect(used).toBeGreaterThanOrEqual(8);
      expect(response.number("ocs.data.quota.total")).toBe(used + response.number("ocs.data.quota.free"));
      expect(response.number("ocs.data.quota.quota")).toBe(-3);
    }
  });

  test("is XML unless JSON is asked for", async () => {
    const xml = await get("/ocs/v1.php/cloud/user");
    expect(xml.header("content-type")).toStartWith("application/xml");
    expect(xml.text).toContain("<statuscode>100</statuscode>");
    expect(xml.text).toContain("<display-name>Ann &lt;&amp;&gt; Co</display-name>");
    const json = await get("/ocs/v1.php/cloud/user", { ...basic, accept: "application/json" });
    expect(json.number("ocs.meta.statuscode")).toBe(100);
    const explicit = await get("/ocs/v1.php/cloud/user?format=xml", { ...basic, accept: "application/json" });
    expect(explicit.text).toContain("<ocs>");
    const capabilities = await get("/ocs/v2.php/cloud/capabilities", {});
    expect(capabilities.text).toContain("<supportedTypes><element>SHA256</element>");
    expect(capabilities.text).toContain("<api_enabled></api_enabled>");
  });

  test("shows a quota", async () => {
    const limited = await server().signUp();
    await server().change(limited.id, { quota: 1_000_000 });
    const response = await get("/ocs/v2.php/cloud/user?format=json", await connect(limited));
    expect(response.at("ocs.data.quota")).toEqual({
      free: 1_000_000,
      used: 0,
      total: 1_000_000,
      relative: 0,
      quota: 1_000_000,
    });
  });

  test("another account is not found", async () => {
    const other = await server().signUp();
    const response = await get(`/ocs/v2.php/cloud/users/${encodeURIComponent(other.email)}?format=json`);
    expectStatus(response, 404);
    expect(response.number("ocs.meta.statuscode")).toBe(404);
    expectStatus(await get("/ocs/v2.php/cloud/users/%ff"), 404);
  });

  test("needs an app password: nothing else opens it", async () => {
    const token = account.client.token ?? "";
    const wrong: Record<string, string>[] = [
      {},
      { authorization: `Bearer ${token}` },
      { cookie: `larder_session=${token}` },
      { authorization: `Basic ${Buffer.from(`${account.email}:${account.password}`).toString("base64")}` },
    ];
    for (const headers of wrong) {
      const response = await get("/ocs/v2.php/cloud/user?format=json", headers);
      expectStatus(response, 401);
      expect(response.header("www-authenticate")).toStartWith("Basic ");
    }
  });

  test("DELETE core/apppassword ends the password that asks", async () => {
    for (const version of ["v1.php", "v2.php"]) {
      const headers = await connect(account);
      const path = `/ocs/${version}/core/apppassword?format=json`;
      expectStatus(await server().visitor.request("DELETE", path, { headers }), 200);
      expectStatus(await get("/ocs/v2.php/cloud/user", headers), 401);
    }
    expectStatus(await get("/ocs/v2.php/cloud/user"), 200);
  });
});

describe("what this server does not have", () => {
  test("is not found, in the form that clients read", async () => {
    const paths = [
      "/ocs/v2.php/apps/files_sharing/api/v1/shares",
      "/ocs/v2.php/apps/notifications/api/v2/notifications",
      "/ocs/v2.php/core/getapppassword",
      "/ocs/v2.php/core/navigation/apps",
      "/index.php/apps/files/api/v1/recent",
      "/index.php/avatar/someone/128",
      "/remote.php/dav/avatars/someone/128.png",
    ];
    for (const path of paths) {
      const json = await get(`${path}?format=json`);
      expectStatus(json, 404);
      expect(json.number("ocs.meta.statuscode")).toBe(404);
      expect((await get(path)).text).toContain("<statuscode>404</statuscode>");
    }
    const posted = await server().visitor.request("POST", "/ocs/v2.php/apps/x?format=json", {
      headers: basic,
      body: "a=b",
    });
    expectStatus(posted, 404);
    const first = await get("/ocs/v1.php/apps/x?format=json");
    expectStatus(first, 200);
    expect(first.number("ocs.meta.statuscode")).toBe(404);
  });
});

describe("previews", () => {
  /** Uploads a photo. @returns its id, as WebDAV shows it */
  async function uploadPhoto(owner: Account, path: string): Promise<string> {
    const headers = { ...(await connect(owner)), "content-type": "image/jpeg" };
    const body = new Uint8Array(await jpegPhoto(300, 200));
    const stored = await server().visitor.request("PUT", `/remote.php/webdav/${path}`, { headers, body });
    expectStatus(stored, 201);
    return stored.header("oc-fileid");
  }

  test("are the thumbnails of files, by their number", async () => {
    const number = await uploadPhoto(account, "photo.jpg");
    const path = `/index.php/core/preview.png?fileId=${Number.parseInt(number)}&x=256&y=256&a=1`;
    const response = await get(path);
    expectStatus(response, 200);
    expect(response.header("content-type")).toBe("image/webp");
    const again = await get(path, { ...basic, "if-none-match": response.header("etag") });
    expectStatus(again, 304);
    expectStatus(await get(`/index.php/core/preview?fileId=${number}`), 200);
  });

  test("another account's, and those outside of the app password's folder, are not found", async () => {
    const owner = await server().signUp();
    await owner.client.post("/api/files/folders", { name: "In", parentPath: "/" });
    const [inside, outside] = [await uploadPhoto(owner, "In/photo.jpg"), await uploadPhoto(owner, "photo.jpg")];
    const limited = await connect(owner, { folder: "/In" });
    expectStatus(await get(`/index.php/core/preview?fileId=${inside}`, limited), 200);
    expectStatus(await get(`/index.php/core/preview?fileId=${outside}`, limited), 404);
    expectStatus(await get(`/index.php/core/preview?fileId=${inside}`), 404);
  });

  test("an unknown number is not found", async () => {
    for (const fileId of ["999999999", "0", "-1", "x", "", "1e3", "99999999999999999999"]) {
      expectStatus(await get(`/index.php/core/preview?fileId=${fileId}`), 404);
    }
    expectStatus(await get("/index.php/core/preview?fileId=1", {}), 401);
  });
});

testAllResponses(server);
