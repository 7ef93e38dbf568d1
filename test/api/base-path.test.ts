import { describe, expect, test } from "bun:test";
import type { ApiResponse, Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { asObject } from "../support/openapi.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";

const basePath = "/files";
const server = sharedServer({ env: { LARDER_BASE_PATH: basePath } });
/** Requests arrive with the base path, or without it through a proxy that strips it. */
const prefixes = [basePath, ""];
const browser = { accept: "text/html" };

/** The distinct targets of a page's links, resolved from a path below the base path. */
function listAddresses(page: ApiResponse, path: string, attributes = "href|src|poster"): string[] {
  const found = [...page.text.matchAll(new RegExp(` (?:${attributes})="([^"#]+)"`, "g"))];
  const links = found.map(([, link = ""]) => new URL(link.replaceAll("&amp;", "&"), `http://larder${basePath}${path}`));
  return [...new Set(links.map((url) => url.href.replace(/^http:\/\/larder\//, "/")))];
}

/** Expects that all links of the page are below the base path and exist, requested with the base path and without. */
async function expectAllLinks(visitor: Client, page: ApiResponse, path: string): Promise<void> {
  const links = listAddresses(page, path);
  expect(links.length).toBeGreaterThanOrEqual(3);
  for (const link of links) {
    expect({ link, isBelow: link.startsWith(`${basePath}/`) }).toEqual({ link, isBelow: true });
    for (const prefix of prefixes) {
      const { status } = await visitor.get(prefix + link.slice(basePath.length));
      expect({ prefix, link, status }).toEqual({ prefix, link, status: 200 });
    }
  }
}

/** Shares a picture that has a thumbnail. Returns the path of its link below the base path. */
async function sharePicture({ client }: { client: Client }) {
  const content = await jpegPhoto(300, 200);
  const id = await client.storedId(content, { name: "p.jpg", fields: { isPublic: "true" } });
  await eventually("the thumbnail", async () => {
    return (await client.get(`/api/files/${id}/download?thumbnail=large`)).status === 200;
  });
  const info = await client.get(`/api/files/${id}`);
  return { content, info, page: new URL(info.string("data.shareLink")).pathname.slice(basePath.length) };
}

function findSetupPath({ log }: TestServer): string {
  const [, path = ""] = /(\/setup\?token=[\w-]+)/.exec(log) ?? [];
  return path;
}

describe.each(prefixes)("a page requested at %p + its path", (prefix) => {
  test.each(["/", "/docs", "/?a=1"])("all links on %s lead to existing pages", async (path) => {
    const page = await server().visitor.get(prefix + path);
    expectStatus(page, 200);
    await expectAllLinks(server().visitor, page, path);
  });

  test("the bare base path is the start page", async () => {
    const page = await server().visitor.get(basePath);
    expectStatus(page, 200);
    await expectAllLinks(server().visitor, page, "/");
  });

  test("the page of a public link shows and offers the file", async () => {
    const { page: path } = await sharePicture(await server().signUp());
    for (const ending of ["", "/"]) {
      const page = await server().visitor.get(prefix + path + ending);
      expectStatus(page, 200);
      expect(listAddresses(page, path + ending)).toContain(`${basePath}${path}/download?thumbnail=large`);
      await expectAllLinks(server().visitor, page, path + ending);
    }
  });

  test.each(["/s/nothing", "/s/nothing/at/all", "/nowhere", "/a/b/c", "/setup", "/setup?token=x"])(
    "all links on the error page at %s lead to existing pages",
    async (path) => {
      const page = await server().visitor.get(prefix + path, browser);
      expectStatus(page, 404);
      expect(page.header("content-type")).toStartWith("text/html");
      await expectAllLinks(server().visitor, page, path);
    },
  );

  test("the setup form is sent to the right path", async () => {
    await withServer({ env: { LARDER_BASE_PATH: basePath } }, async (own) => {
      expect(own.log).toContain(`${own.url}${basePath}/setup?token=`);
      const path = findSetupPath(own);
      const page = await own.visitor.get(prefix + path);
      expectStatus(page, 200);
      await expectAllLinks(own.visitor, page, path);
      expect(listAddresses(page, path, "action")).toEqual([`${basePath}/setup`]);
      const form = (email: string) =>
        new URLSearchParams({
          token: path.split("=")[1] ?? "",
          email,
          password: "correct horse battery",
          use: "accounts",
        }).toString();
      const send = (email: string) =>
        own.visitor.request("POST", `${prefix}/setup`, {
          body: form(email),
          headers: { "content-type": "application/x-www-form-urlencoded" },
        });
      const rejected = await send("no address");
      expectStatus(rejected, 400);
      await expectAllLinks(own.visitor, rejected, "/setup");
      const done = await send("root@example.com");
      expectStatus(done, 201);
      await expectAllLinks(own.visitor, done, "/setup");
    });
  });
});

describe("URLs in responses below a base path", () => {
  test("lead to the content, the thumbnail and the page, with and without a stripping proxy", async () => {
    const { client } = await server().signUp();
    const { content, info } = await sharePicture({ client });
    const page = info.string("data.shareLink");
    const open = await client.get(`/api/public/${page.split("/").at(-1)}`);
    const rows: [string, string][] = [
      [info.string("data.url"), "image/jpeg"],
      [info.string("data.thumbnailUrl"), "image/webp"],
      [page, "text/html; charset=utf-8"],
      [open.string("data.downloadUrl"), "image/jpeg"],
      [open.string("data.thumbnailUrl"), "image/webp"],
    ];
    for (const [address, type] of rows) {
      expect(address).toStartWith(`${server().url}${basePath}/`);
      const path = address.slice(`${server().url}${basePath}`.length);
      for (const prefix of prefixes) {
        const response = await client.get(prefix + path);
        expect({ address, status: response.status, type: response.header("content-type") }).toEqual({
          address,
          status: 200,
          type,
        });
        if (type === "image/jpeg") expect(response.bytes).toEqual(content);
      }
    }
  });

  test("accept uploads", async () => {
    const { client } = await server().signUp();
    const form = new FormData();
    form.append("file", new File(["hello"], "h.txt"));
    const stored = await client.request("POST", `${basePath}/api/files/upload`, { body: form });
    expectStatus(stored, 201);
    expect((await client.get(new URL(stored.string("data.url")).pathname)).text).toBe("hello");
  });

  test("let sync clients sign in, and send files in chunks", async () => {
    const { client, email, password } = await server().signUp();
    const below = (url: string) => {
      expect(url).toStartWith(`${server().url}${basePath}/`);
      return url.slice(`${server().url}${basePath}`.length);
    };
    for (const prefix of prefixes) {
      const begun = await server().visitor.request("POST", `${prefix}/index.php/login/v2`);
      const token = below(begun.string("login")).replace("/connect/", "");
      const agreed = await client.post(`${prefix}/api/users/login-flows/${token}`, { currentPassword: password });
      expectStatus(agreed, 200);
      const poll = prefix + below(begun.string("poll.endpoint"));
      const result = await server().visitor.post(poll, { token: begun.string("poll.token") });
      expect(result.string("server")).toBe(server().url + basePath);
      const credentials = Buffer.from(`${email}:${result.string("appPassword")}`).toString("base64");
      const send = (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
        const sent = { authorization: `Basic ${credentials}`, ...headers };
        return server().visitor.request(method, `${prefix}/remote.php/dav/${path}`, {
          headers: sent,
          ...(body && { body }),
        });
      };
      const upload = `uploads/${encodeURIComponent(email)}/t`;
      expectStatus(await send("MKCOL", upload), 201);
      expectStatus(await send("PUT", `${upload}/1`, {}, "hello"), 201);
      const listed = await send("PROPFIND", upload, { depth: "1" });
      expect(listed.text).toContain(`<d:href>${basePath}/remote.php/dav/${upload}/1</d:href>`);
      const destination = `${server().url}${basePath}/remote.php/webdav/from${prefix.length}.txt`;
      expectStatus(await send("MOVE", `${upload}/.file`, { destination }), 201);
    }
    expect((await client.get(`${basePath}/api/files`)).strings("data.files", "name").sort()).toEqual([
      "from0.txt",
      "from6.txt",
    ]);
  });

  test("are in the OpenAPI document for its clients", async () => {
    for (const prefix of prefixes) {
      const document = asObject((await server().visitor.get(`${prefix}/openapi.json`)).json);
      expect(document?.["servers"]).toEqual([{ url: basePath }]);
    }
  });

  test("match the base path only as a whole segment", async () => {
    for (const path of ["/filesystem", `${basePath}${basePath}ystem`, `${basePath}x/api/files`]) {
      expectStatus(await server().visitor.get(path), 404);
    }
  });
});

describe("a public address with a base path", () => {
  test.each([
    ["without LARDER_BASE_PATH", {}],
    ["with LARDER_BASE_PATH", { LARDER_BASE_PATH: basePath }],
  ])("is in every URL %s, and pages stay on their own host", async (_, extra) => {
    const publicUrl = "https://x.example/files";
    await withServer({ env: { LARDER_PUBLIC_URL: publicUrl, ...extra } }, async (own) => {
      expect(own.log).toContain(`${publicUrl}/setup?token=`);
      const { info, page } = await sharePicture(await own.signUp());
      for (const field of ["url", "thumbnailUrl", "shareLink"]) {
        expect(info.string(`data.${field}`)).toStartWith(`${publicUrl}/`);
      }
      for (const prefix of prefixes) {
        for (const path of ["/", "/docs", page]) {
          await expectAllLinks(own.visitor, await own.visitor.get(prefix + path), path);
        }
      }
    });
  });
});

testAllResponses(server);
