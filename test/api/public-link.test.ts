import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Client, digestOf } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { describeImage, jpegPhoto, pixelAt, tinyPng } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** Uploads a public file, and returns its id and the token of its link. */
async function storePublic(client: Client, content: string | Uint8Array, name = "shared.txt", type = "text/plain") {
  const id = await client.storedId(content, { name, type, fields: { isPublic: "true", description: "said" } });
  const link = (await client.get(`/api/files/${id}`)).string("data.shareLink");
  return { id, link, token: link.split("/").at(-1) ?? "" };
}

describe("isPublic", () => {
  test("true creates a URL-safe link of at least 128 random bits", async () => {
    const { client } = await server().signUp();
    const tokens = new Set<string>();
    for (let index = 0; index < 20; index++) {
      const { link, token } = await storePublic(client, `${index}`, `${index}`);
      expect(link).toBe(`${server().url}/s/${token}`);
      expect(token).toMatch(/^[A-Za-z0-9_-]{22,}$/);
      tokens.add(token);
    }
    expect(tokens.size).toBe(20);
  });

  test("false revokes the link, and true again creates a new one", async () => {
    const { client } = await server().signUp();
    const { id, token } = await storePublic(client, "x");
    expectStatus(await server().visitor.get(`/s/${token}/download`), 200);
    const off = await client.put(`/api/files/${id}`, { isPublic: false });
    expect(off.at("data.isPublic")).toBe(false);
    expect((await client.get(`/api/files/${id}`)).at("data.shareLink")).toBeNull();
    for (const path of [`/s/${token}`, `/s/${token}/download`, `/api/public/${token}`, `/api/public/${token}/download`])
      expectStatus(await server().visitor.get(path), 404);
    const on = await client.put(`/api/files/${id}`, { isPublic: true });
    const fresh = on.string("data.shareLink").split("/").at(-1) ?? "";
    expect(fresh).not.toBe(token);
    expectStatus(await server().visitor.get(`/s/${token}/download`), 404);
    expectStatus(await server().visitor.get(`/s/${fresh}/download`), 200);
  });

  test("true twice keeps the link", async () => {
    const { client } = await server().signUp();
    const { id, link } = await storePublic(client, "x");
    expect((await client.put(`/api/files/${id}`, { isPublic: true })).at("data.shareLink")).toBe(link);
  });

  test("the link survives a rename, a move and new content", async () => {
    const { client } = await server().signUp();
    const { id, token } = await storePublic(client, "old");
    await client.put(`/api/files/${id}`, { name: "new.txt", folder: "/deep" });
    await client.putContent(id, "new");
    expect((await server().visitor.get(`/s/${token}/download`)).text).toBe("new");
  });
});

describe("/s/{token}", () => {
  test("is a plain page that names the file", async () => {
    const { client } = await server().signUp();
    const { token } = await storePublic(client, "hello", "holiday list.txt");
    const response = await server().visitor.get(`/s/${token}`);
    expectStatus(response, 200);
    expect(response.header("content-type")).toStartWith("text/html");
    expect(response.text).toContain("holiday list.txt");
    expect(response.header("content-security-policy")).not.toBe("");
  });

  test("escapes the file's name", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt", fields: { isPublic: "true" } });
    await client.put(`/api/files/${id}`, {
      name: "<img src=x onerror=alert(1)>.txt",
      description: "<script>alert(2)</script>",
    });
    const link = new URL((await client.get(`/api/files/${id}`)).string("data.shareLink")).pathname;
    const page = (await server().visitor.get(link)).text;
    expect(page).not.toContain("<img src=x");
    expect(page).not.toContain("<script>alert");
  });
});

describe.each(["/s/{token}/download", "/api/public/{token}/download"])("%s", (template) => {
  const path = (token: string) => template.replace("{token}", token);

  test("sends the bytes to anyone, with the share's headers", async () => {
    const { client } = await server().signUp();
    const { token } = await storePublic(client, "hello world");
    const response = await server().visitor.get(path(token));
    expectStatus(response, 200);
    expect(response.text).toBe("hello world");
    expect(response.header("content-length")).toBe("11");
    expect(response.header("content-disposition")).toContain("shared.txt");
    expect(response.header("cache-control")).toBe("private, no-cache");
    expect(response.header("referrer-policy")).toBe("no-referrer");
    expect(response.header("x-robots-tag")).toContain("noindex");
    expect(response.header("x-content-type-options")).toBe("nosniff");
    expect(response.header("content-security-policy")).toMatch(/\bsandbox\b/);
    expect(response.header("etag")).toBe(`"${digestOf("hello world")}"`);
  });

  test("supports ranges, conditions and HEAD", async () => {
    const { client } = await server().signUp();
    const { token } = await storePublic(client, "hello world");
    const range = await server().visitor.get(path(token), { range: "bytes=6-" });
    expectStatus(range, 206);
    expect(range.text).toBe("world");
    const etag = `"${digestOf("hello world")}"`;
    expectStatus(await server().visitor.get(path(token), { "if-none-match": etag }), 304);
    const head = await server().visitor.head(path(token));
    expectStatus(head, 200);
    expect(head.header("content-length")).toBe("11");
  });

  test("never lets a shared file run scripts in our origin", async () => {
    const { client } = await server().signUp();
    const kinds: [string, string, string][] = [
      ["<script>alert(1)</script>", "x.html", "text/html"],
      ['<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', "x.svg", "image/svg+xml"],
      ["alert(1)", "x.js", "text/javascript"],
    ];
    for (const [content, name, type] of kinds) {
      const { token } = await storePublic(client, content, name, type);
      for (const query of ["", "?inline=true"]) {
        const response = await server().visitor.get(path(token) + query);
        expectStatus(response, 200);
        expect(response.header("content-disposition")).toStartWith("attachment");
        expect(response.header("content-security-policy")).toMatch(/\bsandbox\b/);
        expect(response.header("content-security-policy")).not.toMatch(/allow-scripts/);
      }
    }
    const { token } = await storePublic(client, tinyPng(), "x.png", "image/png");
    expect((await server().visitor.get(path(token))).header("content-type")).toBe("image/png");
  });

  test("counts as a download of the file", async () => {
    const { client } = await server().signUp();
    const { id, token } = await storePublic(client, "x");
    await server().visitor.get(path(token));
    expect((await client.get(`/api/files/${id}`)).at("data.downloadCount")).toBe(1);
  });

  test("responds with 404 to each unknown token", async () => {
    const { client } = await server().signUp();
    const { id, token } = await storePublic(client, "x");
    const last = token.endsWith("A") ? "B" : "A";
    for (const tried of ["nothing", token.slice(0, -1), token.slice(0, -1) + last, `${token}A`, id, "%00", "..%2f.."])
      expectStatus(await server().visitor.get(path(tried)), 404);
  });
});

describe("GET /api/public/{token}", () => {
  test("describes the shared file, but not its folder or owner", async () => {
    const { client, email, id: userId } = await server().signUp();
    const id = await client.storedId("hello", {
      name: "a.txt",
      fields: { isPublic: "true", folder: "/private/place" },
    });
    const token = (await client.get(`/api/files/${id}`)).string("data.shareLink").split("/").at(-1) ?? "";
    const response = await server().visitor.get(`/api/public/${token}`);
    expectStatus(response, 200);
    expect(response.at("success")).toBe(true);
    expect(response.text).toContain("a.txt");
    for (const secret of ["/private/place", "private", email, userId]) expect(response.text).not.toContain(secret);
  });

  test("responds with 404 to an unknown token", async () => {
    expectStatus(await server().visitor.get("/api/public/nothing"), 404);
  });
});

describe("the first download", () => {
  test("is recorded when content is sent, not for the page, HEAD, 304 or a thumbnail", async () => {
    const { client } = await server().signUp();
    const { id, token } = await storePublic(client, tinyPng(), "a.png", "image/png");
    const isRecorded = () => {
      const db = new Database(join(server().dataDir, "larder.db"), { readonly: true });
      try {
        const row = db
          .query<{ at: number | null }, [string]>(
            "SELECT downloaded_at AS at FROM shares s JOIN nodes n ON n.id = s.node_id WHERE n.public_id = ?",
          )
          .get(id);
        return row?.at !== null;
      } finally {
        db.close();
      }
    };
    const { visitor } = server();
    const path = `/s/${token}/download`;
    expectStatus(await visitor.get(`/s/${token}`), 200);
    const head = await visitor.head(path);
    expectStatus(await visitor.get(path, { "if-none-match": head.header("etag") }), 304);
    expectStatus(await visitor.get(`${path}?thumbnail=small`), 200);
    expectStatus(await visitor.get(`/api/public/${token}`), 200);
    expect(isRecorded()).toBe(false);
    expectStatus(await visitor.get(path, { range: "bytes=0-3" }), 206);
    await eventually("the download is recorded", isRecorded);
  });
});

/** Creates a share, and returns its id and token. */
async function createShare(client: Client, target: { file: string } | { folder: string }, settings: object = {}) {
  const path = "file" in target ? `/api/files/${target.file}/shares` : `/api/files/folders/${target.folder}/shares`;
  const made = await client.post(path, settings);
  expectStatus(made, 201);
  return { id: made.string("data.id"), token: made.string("data.token") };
}

/** Unlocks a share with its password, and returns the header with the grant. */
async function grantFor(token: string, password: string): Promise<Record<string, string>> {
  const response = await server().visitor.post(`/api/public/${token}/unlock`, { password });
  expectStatus(response, 200);
  return { "x-share-grant": response.string("data.grant") };
}

/** Creates a shared folder with files in it, below it, above it and next to it. */
async function createAlbum(client: Client) {
  const folder = await client.folderId("album", "/private");
  await client.folderId("album-secret", "/private");
  return {
    folder,
    inside: await client.storedId("inside", { name: "in.txt", fields: { folder: "/private/album" } }),
    deep: await client.storedId("deep", { name: "deep.txt", fields: { folder: "/private/album/more/deeper" } }),
    above: await client.storedId("above", { name: "above.txt", fields: { folder: "/private" } }),
    beside: await client.storedId("beside", { name: "beside.txt", fields: { folder: "/private/album-secret" } }),
  };
}

/** Every public route of a shared folder with one file in it, by name. */
const routes = (token: string, fileId: string): Record<string, string> => ({
  page: `/s/${token}`,
  "file page": `/s/${token}?fileId=${fileId}`,
  "page download": `/s/${token}/download?fileId=${fileId}`,
  "page ZIP": `/s/${token}/download`,
  info: `/api/public/${token}`,
  files: `/api/public/${token}/files`,
  download: `/api/public/${token}/download?fileId=${fileId}`,
  thumbnail: `/api/public/${token}/download?fileId=${fileId}&thumbnail=true`,
  ZIP: `/api/public/${token}/download`,
});

describe("the same checks protect every route of a share", () => {
  test("each route responds to each role", async () => {
    const owner = await server().signUp();
    const stranger = await server().signUp();
    const { folder, inside } = await createAlbum(owner.client);
    const open = await createShare(owner.client, { folder });
    const locked = await createShare(owner.client, { folder }, { password: "open sesame" });
    const other = await createShare(owner.client, { folder }, { password: "another one" });
    const revoked = await createShare(owner.client, { folder }, { password: "open sesame" });
    // Long enough to hash and check the password on a busy machine.
    const expired = await createShare(owner.client, { folder }, { expiresIn: "4s", password: "open sesame" });
    const grants = {
      expired: await grantFor(expired.token, "open sesame"),
      right: await grantFor(locked.token, "open sesame"),
      other: await grantFor(other.token, "another one"),
      revoked: await grantFor(revoked.token, "open sesame"),
    };
    await owner.client.delete(`/api/shares/${revoked.id}`);
    const usedUp = await createShare(owner.client, { folder }, { maxDownloads: 1 });
    expectStatus(await server().visitor.get(`/api/public/${usedUp.token}/download?fileId=${inside}`), 200);
    const isExpired = async () => (await server().visitor.get(`/api/public/${expired.token}`)).status === 410;
    await eventually("a share expires", isExpired);

    const { visitor } = server();
    const wrong = { "x-share-grant": `${Date.now().toString(36)}.${"A".repeat(43)}` };
    const roles: [string, Client, string, Record<string, string> | undefined, number, string?][] = [
      ["anonymous, open", visitor, open.token, undefined, 200],
      ["stranger signed in, open", stranger.client, open.token, undefined, 200],
      ["anonymous, locked", visitor, locked.token, undefined, 401, "password_required"],
      ["owner, locked", owner.client, locked.token, undefined, 401, "password_required"],
      ["stranger signed in, locked", stranger.client, locked.token, undefined, 401, "password_required"],
      ["forged grant", visitor, locked.token, wrong, 401, "password_required"],
      ["no grant at all", visitor, locked.token, { "x-share-grant": "nonsense" }, 401, "password_required"],
      ["the password as a grant", visitor, locked.token, { "x-share-grant": "open sesame" }, 401, "password_required"],
      ["another share's grant", visitor, locked.token, grants.other, 401, "password_required"],
      ["right grant", visitor, locked.token, grants.right, 200],
      [
        "right grant in the pages' cookie",
        visitor,
        locked.token,
        { cookie: `larder_grant=${grants.right["x-share-grant"]}` },
        200,
      ],
      ["revoked, with its grant", visitor, revoked.token, grants.revoked, 404, "not_found"],
      ["expired", visitor, expired.token, undefined, 410, "share_expired"],
      ["expired, with its grant", visitor, expired.token, grants.expired, 410, "share_expired"],
      ["used up", visitor, usedUp.token, undefined, 410, "share_used_up"],
    ];
    for (const [role, client, token, headers, status, reason] of roles) {
      for (const [route, path] of Object.entries(routes(token, inside))) {
        const response = await client.get(path, headers);
        // A text file has no thumbnail; the file itself is sent.
        expect({ role, route, status: response.status }).toEqual({ role, route, status });
        if (reason !== undefined && path.startsWith("/api/")) expectError(response, status, reason);
        if (status !== 200)
          for (const secret of ["in.txt", "inside", "album", "more"]) expect(response.text).not.toContain(secret);
        for (const [name, value] of Object.entries(shareHeaders))
          expect([route, response.headers.get(name)]).toEqual([route, value]);
      }
    }
  });

  test("a link of a folder opens nothing outside it, by any id or path", async () => {
    const { client } = await server().signUp();
    const stranger = await server().signUp();
    const { folder, deep, above, beside } = await createAlbum(client);
    const foreign = await stranger.client.storedId("foreign");
    const { token } = await createShare(client, { folder });
    const { visitor } = server();
    expect((await visitor.get(`/api/public/${token}/download?fileId=${deep}`)).text).toBe("deep");
    for (const id of [above, beside, foreign, folder, "nothing", "..", "%00"]) {
      expectStatus(await visitor.get(`/api/public/${token}/download?fileId=${id}`), 404);
      expectStatus(await visitor.get(`/api/public/${token}/download?fileId=${id}&thumbnail=true`), 404);
      expectStatus(await visitor.get(`/s/${token}?fileId=${id}`), 404);
    }
    for (const path of ["/private", "/private/album", "/-secret", "/album", "/in.txt"])
      expectStatus(await visitor.get(`/api/public/${token}/files?folder=${encodeURIComponent(path)}`), 404);
    for (const path of ["/../", "/..", "/more/../..", "more", "/a//b"])
      expectError(
        await visitor.get(`/api/public/${token}/files?folder=${encodeURIComponent(path)}`),
        400,
        "invalid_path",
      );
    // A moved file is visible according to its new folder, immediately.
    await client.put(`/api/files/${deep}`, { folder: "/private" });
    await client.put(`/api/files/${above}`, { folder: "/private/album/more" });
    expectStatus(await visitor.get(`/api/public/${token}/download?fileId=${deep}`), 404);
    expect((await visitor.get(`/api/public/${token}/download?fileId=${above}`)).text).toBe("above");
  });

  test("a link of a file opens no other file", async () => {
    const { client } = await server().signUp();
    const file = await client.storedId("one");
    const other = await client.storedId("two");
    const { token } = await createShare(client, { file });
    expectStatus(await server().visitor.get(`/api/public/${token}/download?fileId=${other}`), 404);
    expect((await server().visitor.get(`/api/public/${token}/download?fileId=${file}`)).text).toBe("one");
    expectError(await server().visitor.get(`/api/public/${token}/files`), 400, "not_a_folder");
  });
});

const shareHeaders = {
  "cache-control": "private, no-cache",
  "referrer-policy": "no-referrer",
  "x-robots-tag": "noindex",
};

describe("a shared folder", () => {
  test("is listed in pages, with paths relative to the share", async () => {
    const { client } = await server().signUp();
    const { folder, inside, deep } = await createAlbum(client);
    const { token } = await createShare(client, { folder });
    const { visitor } = server();
    const info = await visitor.get(`/api/public/${token}`);
    expect(info.at("data")).toMatchObject({
      name: "album",
      type: "folder",
      permissions: "read",
      itemCount: 2,
      files: 1,
      folders: 1,
    });
    const top = await visitor.get(`/api/public/${token}/files`);
    expect(top.at("data.currentFolder")).toEqual({ path: "/", name: "album", parent: "/" });
    expect(top.strings("data.files", "name")).toEqual(["more", "in.txt"]);
    expect(top.at("data.files.0")).toMatchObject({ type: "folder", folder: "/", path: "/more", itemCount: 1 });
    expect(top.at("data.files.1")).toMatchObject({ id: inside, type: "file", folder: "/", size: 6 });
    expect(top.text).not.toContain("private");
    const download = new URL(top.string("data.files.1.downloadUrl"));
    expect((await visitor.get(download.pathname + download.search)).text).toBe("inside");
    const deeper = await visitor.get(`/api/public/${token}/files?folder=/more/deeper`);
    expect(deeper.at("data.currentFolder")).toEqual({ path: "/more/deeper", name: "deeper", parent: "/more" });
    expect(deeper.at("data.files.0")).toMatchObject({ id: deep, folder: "/more/deeper" });
    const second = await visitor.get(`/api/public/${token}/files?limit=1&page=2&order=desc`);
    expect(second.at("data.pagination")).toMatchObject({
      page: 2,
      total: 2,
      totalPages: 2,
      hasPrev: true,
      hasNext: false,
    });
    expectError(await visitor.get(`/api/public/${token}/files?limit=101`), 400, "invalid_field", "limit");
  });

  test("without fileId is a ZIP of everything, with the share's headers", async () => {
    const { client } = await server().signUp();
    const { folder } = await createAlbum(client);
    const { token } = await createShare(client, { folder });
    const response = await server().visitor.get(`/s/${token}/download`);
    expectStatus(response, 200);
    expect(response.header("content-disposition")).toContain("album.zip");
    const names = new TextDecoder("latin1").decode(response.bytes);
    for (const name of ["in.txt", "more/deeper/deep.txt"]) expect(names).toContain(name);
    for (const name of ["above.txt", "beside.txt", "private"]) expect(names).not.toContain(name);
    for (const [name, value] of Object.entries(shareHeaders)) expect(response.headers.get(name)).toBe(value);
    const head = await server().visitor.head(`/s/${token}/download`);
    expect(head.header("content-length")).toBe(String(response.bytes.length));
  });
});

test("ranges of a shared folder's files count as one download per file", async () => {
  await withServer({ env: { LARDER_RATE_LIMITS: "on", LARDER_PLANS_FREE_LIMIT_DOWNLOADS: "2" } }, async (limited) => {
    const { client } = await limited.signUp();
    const folder = await client.folderId("f");
    const ids: string[] = [];
    for (const name of ["a", "b", "c"])
      ids.push(await client.storedId(`${name} content`, { name, fields: { folder: "/f" } }));
    const token = (await client.post(`/api/files/folders/${folder}/shares`, {})).string("data.token");
    const range = async (id = "") =>
      (await limited.visitor.get(`/api/public/${token}/download?fileId=${id}`, { range: "bytes=0-" })).status;
    expect([await range(ids[0]), await range(ids[0]), await range(ids[1])]).toEqual([206, 206, 206]);
    expect(await range(ids[2])).toBe(429);
    expect(await range(ids[1])).toBe(206);
  });
});

describe("unlock", () => {
  test("gives a grant for an hour, bound to the share", async () => {
    const { client } = await server().signUp();
    const { token } = await createShare(client, { file: await client.storedId("secret") }, { password: "пароль 1" });
    const response = await server().visitor.post(`/api/public/${token}/unlock`, { password: "пароль 1" });
    const ms = Date.parse(response.string("data.expiresAt")) - Date.now();
    expect(ms).toBeGreaterThan(3_500_000);
    expect(ms).toBeLessThanOrEqual(3_600_000);
    const headers = { "x-share-grant": response.string("data.grant") };
    expect((await server().visitor.get(`/api/public/${token}/download`, headers)).text).toBe("secret");
    expect((await server().visitor.get(`/s/${token}/download`, headers)).text).toBe("secret");
  });

  test("responds with 401 to a wrong password, with 400 to none, and reveals nothing", async () => {
    const { client } = await server().signUp();
    const file = await client.storedId("secret", { name: "salary.txt" });
    const { token } = await createShare(client, { file }, { password: "open sesame" });
    const wrong = await server().visitor.post(`/api/public/${token}/unlock`, { password: "open barley" });
    expectError(wrong, 401, "bad_credentials");
    expect(wrong.text).not.toContain("salary");
    expectError(await server().visitor.post(`/api/public/${token}/unlock`, {}), 400, "invalid_field", "password");
    expectStatus(await server().visitor.post(`/api/public/${"A".repeat(32)}/unlock`, { password: "x" }), 404);
  });

  test("a grant ends when password or share change, and survives a restart", async () => {
    const { client } = await server().signUp();
    const made = await createShare(client, { file: await client.storedId("secret") }, { password: "open sesame" });
    const path = `/api/public/${made.token}/download`;
    const patch = (json: object) => client.request("PATCH", `/api/shares/${made.id}`, { json });
    let headers = await grantFor(made.token, "open sesame");
    await server().restart();
    expectStatus(await server().visitor.get(path, headers), 200);
    await patch({ password: "open barley" });
    expectError(await server().visitor.get(path, headers), 401, "password_required");
    expectError(
      await server().visitor.post(`/api/public/${made.token}/unlock`, { password: "open sesame" }),
      401,
      "bad_credentials",
    );
    headers = await grantFor(made.token, "open barley");
    expectStatus(await server().visitor.get(path, headers), 200);
    await patch({ hideLocation: true });
    expectError(await server().visitor.get(path, headers), 401, "password_required");
    await patch({ password: null });
    expectStatus(await server().visitor.get(path), 200);
  });

  test("guesses are limited per address and share; over the limit, the right password is rejected, too", async () => {
    await withServer({ env: { LARDER_RATE_LIMITS: "on" } }, async (limited) => {
      const { client } = await limited.signUp();
      const file = await client.storedId("secret");
      const make = async () =>
        (await client.post(`/api/files/${file}/shares`, { password: "open sesame" })).string("data.token");
      const [one, other] = [await make(), await make()];
      const guess = (token: string, password: string) =>
        limited.visitor.post(`/api/public/${token}/unlock`, { password });
      for (let index = 0; index < 5; index++) expectError(await guess(one, `guess ${index}`), 401, "bad_credentials");
      const refused = await guess(one, "open sesame");
      expectError(refused, 429, "rate_limited");
      expect(Number(refused.header("retry-after"))).toBeGreaterThan(0);
      expectStatus(await guess(other, "open sesame"), 200);
      const form = await limited.visitor.request("POST", `/s/${one}/unlock`, {
        body: "password=open+sesame",
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      expectStatus(form, 429);
      expect(Number(form.header("retry-after"))).toBeGreaterThan(0);
    });
  });
});

describe("maxDownloads", () => {
  test("is exact with concurrent downloads", async () => {
    const { client } = await server().signUp();
    const file = await client.storedId(new Uint8Array(200_000).fill(7));
    const made = await createShare(client, { file }, { maxDownloads: 5 });
    const paths = [`/s/${made.token}/download`, `/api/public/${made.token}/download`];
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => server().visitor.get(paths[index % 2] ?? "")),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 410)).toHaveLength(45);
    for (const response of responses) if (response.status === 200) expect(response.bytes.length).toBe(200_000);
    expect((await client.get(`/api/shares/${made.id}`)).at("data.downloads")).toBe(5);
  });

  test("counts concurrent and repeated ranges once per client, content and hour; the last download may finish", async () => {
    const { client } = await server().signUp();
    const file = await client.storedId("hello world");
    const made = await createShare(client, { file }, { maxDownloads: 1 });
    const range = (from: number) =>
      server().visitor.get(`/s/${made.token}/download`, { range: `bytes=${from}-${from}` });
    const first = await Promise.all([range(0), range(1), range(2), range(3)]);
    expect(first.map(({ status }) => status)).toEqual([206, 206, 206, 206]);
    expectStatus(await range(4), 206);
    expectError(await server().visitor.get(`/api/public/${made.token}/download`), 410, "share_used_up");
    expectStatus(await range(5), 206);
    expect((await client.get(`/api/shares/${made.id}`)).at("data.downloads")).toBe(1);
  });

  test("doesn't count the page, the listing, HEAD, 304, 412, 416 and thumbnails", async () => {
    const { client } = await server().signUp();
    const file = await client.storedId(tinyPng(), { name: "a.png" });
    const made = await createShare(client, { file }, { maxDownloads: 1 });
    const { visitor } = server();
    const path = `/api/public/${made.token}/download`;
    const etag = (await visitor.head(path)).header("etag");
    expectStatus(await visitor.get(`/s/${made.token}`), 200);
    expectStatus(await visitor.get(`/api/public/${made.token}`), 200);
    expectStatus(await visitor.get(path, { "if-none-match": etag }), 304);
    expectStatus(await visitor.get(path, { "if-match": '"other"' }), 412);
    expectStatus(await visitor.get(path, { range: "bytes=100000-" }), 416);
    expectStatus(await visitor.get(`${path}?thumbnail=true`), 200);
    expectStatus(await visitor.get(`${path}?thumbnail=huge`), 400);
    expect((await client.get(`/api/shares/${made.id}`)).at("data.downloads")).toBe(0);
    expectStatus(await visitor.get(path), 200);
    for (const used of [path, `${path}?thumbnail=true`, `/api/public/${made.token}`, `/s/${made.token}`])
      expectStatus(await visitor.get(used), 410);
    expectStatus(await visitor.head(path), 410);
    // A higher limit opens it again.
    await client.request("PATCH", `/api/shares/${made.id}`, { json: { maxDownloads: 2 } });
    expectStatus(await visitor.get(path), 200);
    expectStatus(await visitor.get(path), 410);
  });

  test("set later includes earlier downloads", async () => {
    const { client } = await server().signUp();
    const made = await createShare(client, { file: await client.storedId("x") });
    for (let index = 0; index < 3; index++) await server().visitor.get(`/s/${made.token}/download`);
    await client.request("PATCH", `/api/shares/${made.id}`, { json: { maxDownloads: 3 } });
    expectStatus(await server().visitor.get(`/s/${made.token}/download`), 410);
  });

  test("counts a ZIP once", async () => {
    const { client } = await server().signUp();
    const { folder } = await createAlbum(client);
    const made = await createShare(client, { folder }, { maxDownloads: 1 });
    expectStatus(await server().visitor.head(`/s/${made.token}/download`), 200);
    expectStatus(await server().visitor.get(`/s/${made.token}/download`), 200);
    expectStatus(await server().visitor.get(`/s/${made.token}/download`), 410);
  });
});

describe("the shared content", () => {
  test("is the latest version, or stays at the shared one if pinned", async () => {
    const { client } = await server().signUp();
    const file = await client.storedId("first", { name: "a.txt" });
    const following = await createShare(client, { file });
    const pinned = await createShare(client, { file }, { pinned: true });
    await client.putContent(file, "second, longer");
    const { visitor } = server();
    expect((await visitor.get(`/s/${following.token}/download`)).text).toBe("second, longer");
    const response = await visitor.get(`/s/${pinned.token}/download`);
    expect(response.text).toBe("first");
    expect(response.header("etag")).toBe(`"${digestOf("first")}"`);
    expect((await visitor.get(`/api/public/${pinned.token}`)).at("data")).toMatchObject({ size: 5, name: "a.txt" });
    expectStatus(await client.delete(`/api/files/${file}/versions/1`), 200);
    expectStatus(await visitor.get(`/s/${pinned.token}/download`), 404);
    expectStatus(await visitor.get(`/s/${pinned.token}`), 404);
    await client.request("PATCH", `/api/shares/${pinned.id}`, { json: { pinned: true } });
    expect((await visitor.get(`/s/${pinned.token}/download`)).text).toBe("second, longer");
  });

  test("expires", async () => {
    const { client } = await server().signUp();
    const made = await createShare(client, { file: await client.storedId("x") }, { expiresIn: "1s" });
    const { visitor } = server();
    expectStatus(await visitor.get(`/s/${made.token}/download`), 200);
    await eventually("it expires", async () => (await visitor.get(`/api/public/${made.token}`)).status === 410);
    expectError(await visitor.get(`/api/public/${made.token}/download`), 410, "share_expired");
    expectError(await visitor.post(`/api/public/${made.token}/unlock`, { password: "x" }), 410, "share_expired");
    await client.request("PATCH", `/api/shares/${made.id}`, { json: { expiresAt: null } });
    expectStatus(await visitor.get(`/s/${made.token}/download`), 200);
  });
});

describe("hideLocation", () => {
  const shareHidden = async (client: Client, content: Uint8Array, name: string) =>
    createShare(client, { file: await client.storedId(content, { name }) }, { hideLocation: true });

  test("sends pictures without camera data, with the same orientation, under a neutral name", async () => {
    const { client } = await server().signUp();
    const photo = await jpegPhoto(60, 40, 6);
    const file = await client.storedId(photo, { name: "IMG_20260102_030405.JPG" });
    const { token } = await createShare(client, { file }, { hideLocation: true });
    const { visitor } = server();
    const path = `/api/public/${token}/download`;
    const response = await visitor.get(path);
    expectStatus(response, 200);
    expect(Buffer.from(response.bytes).includes("LarderCam")).toBe(false);
    expect(Buffer.from(photo).includes("LarderCam")).toBe(true);
    expect(response.header("content-disposition")).toContain('"photo.jpg"');
    expect(response.header("content-length")).toBe(String(response.bytes.length));
    expect(response.header("etag")).not.toContain(digestOf(photo));
    const thumbnail = await visitor.get(`${path}?thumbnail=small`);
    expect((await describeImage(thumbnail.bytes)).hasExif).toBe(false);
    // The pixels are not rotated.
    expect(await pixelAt(response.bytes, 0.1, 0.5)).toEqual(await pixelAt(photo, 0.1, 0.5));
    const range = await visitor.get(path, { range: "bytes=10-29" });
    expectStatus(range, 206);
    expect(range.bytes).toEqual(response.bytes.slice(10, 30));
    expectStatus(await visitor.get(path, { "if-none-match": response.header("etag") }), 304);
    const info = await visitor.get(`/api/public/${token}`);
    expect(info.at("data")).toMatchObject({ name: "photo.jpg", checksum: null, size: response.bytes.length });
    for (const text of [info.text, (await visitor.get(`/s/${token}`)).text]) expect(text).not.toContain("2026010");
    // The owner's file stays unchanged.
    expect((await client.get(`/api/files/${file}/download`)).bytes).toEqual(new Uint8Array(photo));
  });

  test("sends a large preview if metadata can't be stripped, and rejects videos", async () => {
    const { client } = await server().signUp();
    const gif = Buffer.from("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=", "base64");
    const picture = await shareHidden(client, new Uint8Array(gif), "IMG_20260102.gif");
    const response = await server().visitor.get(`/s/${picture.token}/download`);
    expectStatus(response, 200);
    expect(response.header("content-type")).toBe("image/webp");
    expect(response.header("content-disposition")).toContain("photo.webp");
    const film = await shareHidden(
      client,
      new Uint8Array(Buffer.from("00000018667479706d703432000000006d70343269736f6d", "hex")),
      "a.mp4",
    );
    expectError(await server().visitor.get(`/api/public/${film.token}/download`), 403, "share_permission");
  });

  test("hides what could identify the original: digest, size, date", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("album");
    const photo = await jpegPhoto(60, 40);
    const gif = new Uint8Array(Buffer.from("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=", "base64"));
    const originals = [photo, gif, new TextEncoder().encode("a list")];
    const names = ["IMG_20260102.jpg", "IMG_20260102.gif", "list.txt"];
    const ids = await Promise.all(
      originals.map((bytes, index) =>
        client.storedId(bytes, { name: names[index] ?? "", fields: { folder: "/album" } }),
      ),
    );
    const { token } = await createShare(client, { folder }, { hideLocation: true });
    const { visitor } = server();
    for (const [index, id] of ids.entries()) {
      const digest = digestOf(originals[index] ?? "");
      for (const query of ["", "&thumbnail=small", "&thumbnail=large"]) {
        const path = `/api/public/${token}/download?fileId=${id}${query}`;
        const response = await visitor.get(path);
        expectStatus(response, 200);
        expect(JSON.stringify([...response.headers])).not.toContain(digest);
        expectStatus(await visitor.get(path, { "if-none-match": response.header("etag") }), 304);
        expect((await visitor.get(path, { "if-match": '"other"' })).text).not.toContain(digest);
      }
    }
    const listing = await visitor.get(`/api/public/${token}/files`);
    const sizes = listing.list("data.files").map((item) => Reflect.get(Object(item), "size"));
    expect(sizes).toEqual([null, null, 6]);
    expect(listing.text + (await visitor.get(`/s/${token}`)).text).not.toContain("20260102");
  });

  test("rejects XMP files, which contain a picture's metadata", async () => {
    const { client } = await server().signUp();
    const notes = await shareHidden(
      client,
      new TextEncoder().encode("<x:xmpmeta>52.5 N</x:xmpmeta>"),
      "IMG_20260102.XMP",
    );
    const path = `/api/public/${notes.token}`;
    for (const query of ["", "?inline", "?thumbnail"])
      expectError(await server().visitor.get(`${path}/download${query}`), 403, "share_permission");
    for (const shown of [path, `/s/${notes.token}`]) {
      const response = await server().visitor.get(shown);
      expectStatus(response, 403);
      expect(response.text).not.toContain("20260102");
    }
  });

  test("sends other files unchanged, and no archive of a folder", async () => {
    const { client } = await server().signUp();
    const { folder, inside } = await createAlbum(client);
    const picture = await client.storedId(await jpegPhoto(40, 40), {
      name: "IMG_1999.jpg",
      fields: { folder: "/private/album" },
    });
    const { token } = await createShare(client, { folder }, { hideLocation: true });
    expect((await server().visitor.get(`/api/public/${token}/download?fileId=${inside}`)).text).toBe("inside");
    expectError(await server().visitor.get(`/api/public/${token}/download`), 403, "share_permission");
    const bytes = (await server().visitor.get(`/api/public/${token}/download?fileId=${picture}`)).bytes;
    expect(Buffer.from(bytes).includes("LarderCam")).toBe(false);
    const names = (await server().visitor.get(`/api/public/${token}/files`)).strings("data.files", "name");
    expect(names.some((name) => /^photo-[0-9a-f]{6}\.jpg$/.test(name))).toBe(true);
    expect(names).not.toContain("IMG_1999.jpg");
  });
});

test("every response about a share has the share's headers, rejections included", async () => {
  await withServer({ env: { LARDER_RATE_LIMITS: "" } }, async (own) => {
    const { client } = await own.signUp();
    const made = await client.post(`/api/files/${await client.storedId("x")}/shares`, { password: "open sesame" });
    const path = `/api/public/${made.string("data.token")}`;
    const { visitor } = own;
    const responses = [
      await visitor.get(path),
      await visitor.get(`${path}/nothing`),
      await visitor.put(`${path}/unlock`, {}),
      await visitor.request("POST", `${path}/unlock`, { body: "x", headers: { "content-type": "text/plain" } }),
      await visitor.request("POST", `${path}/unlock`, { body: "{", headers: { "content-type": "application/json" } }),
      await visitor.get(`/s/x/y/z`),
    ];
    expect(responses.map(({ status }) => status)).toEqual([401, 404, 405, 415, 400, 404]);
    for (;;) {
      const response = await visitor.get(`${path}/download`);
      responses.push(response);
      if (response.status === 429) break;
    }
    for (const response of responses) {
      expect(response.header("cache-control")).toBe("private, no-cache");
      expect(response.header("referrer-policy")).toBe("no-referrer");
      expect(response.header("x-robots-tag")).toBe("noindex");
    }
  });
});

testAllResponses(server);
