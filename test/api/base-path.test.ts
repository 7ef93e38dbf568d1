import { describe, expect, test } from "bun:test";
import type { ApiResponse, Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { asObject } from "../support/openapi.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";

const basePath = "/files";
const server = sharedServer({ env: { LARDER_BASE_PATH: basePath } });
/** How a request arrives: through a proxy that leaves the base path, or through one that strips it. */
const prefixes = [basePath, ""];
const browser = { accept: "text/html" };

/** Where the attributes of a page lead, from an address below the base path; each once. */
function addresses(page: ApiResponse, path: string, attributes = "href|src|poster"): string[] {
  const found = [...page.text.matchAll(new RegExp(` (?:${attributes})="([^"#]+)"`, "g"))];
  const links = found.map(([, link = ""]) => new URL(link.replaceAll("&amp;", "&"), `http://larder${basePath}${path}`));
  return [...new Set(links.map((url) => url.href.replace(/^http:\/\/larder\//, "/")))];
}

/** What the page loads and leads to, all below the base path and all there, with the base path and without. */
async function expectAllLinks(visitor: Client, page: ApiResponse, path: string): Promise<void> {
  const links = addresses(page, path);
  expect(links.length).toBeGreaterThanOrEqual(3);
  for (const link of links) {
    expect({ link, isBelow: link.startsWith(`${basePath}/`) }).toEqual({ link, isBelow: true });
    for (const prefix of prefixes) {
      const { status } = await visitor.get(prefix + link.slice(basePath.length));
      expect({ prefix, link, status }).toEqual({ prefix, link, status: 200 });
    }
  }
}

/** A public picture that has its thumbnail, and the path of its link below the base path. */
async function sharedPicture({ client }: { client: Client }) {
  const content = await jpegPhoto(300, 200);
  const id = await client.storedId(content, { name: "p.jpg", fields: { isPublic: "true" } });
  await eventually("the thumbnail", async () => {
    return (await client.get(`/api/files/${id}/download?thumbnail=large`)).status === 200;
  });
  const info = await client.get(`/api/files/${id}`);
  return { content, info, page: new URL(info.string("data.shareLink")).pathname.slice(basePath.length) };
}

function setupPathOf({ log }: TestServer): string {
  const [, path = ""] = /(\/setup\?token=[\w-]+)/.exec(log) ?? [];
  return path;
}

describe.each(prefixes)("a page asked for at %p + its path", (prefix) => {
  test.each(["/", "/docs", "/?a=1"])("%s has links that all lead somewhere", async (path) => {
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
    const { page: path } = await sharedPicture(await server().signUp());
    for (const ending of ["", "/"]) {
      const page = await server().visitor.get(prefix + path + ending);
      expectStatus(page, 200);
      expect(addresses(page, path + ending)).toContain(`${basePath}${path}/download?thumbnail=large`);
      await expectAllLinks(server().visitor, page, path + ending);
    }
  });

  test.each(["/s/nothing", "/s/nothing/at/all", "/nowhere", "/a/b/c", "/setup", "/setup?token=x"])(
    "the page for a failure at %s has links that all lead somewhere",
    async (path) => {
      const page = await server().visitor.get(prefix + path, browser);
      expectStatus(page, 404);
      expect(page.header("content-type")).toStartWith("text/html");
      await expectAllLinks(server().visitor, page, path);
    },
  );

  test("the set-up form goes to where it is taken", async () => {
    await withServer({ env: { LARDER_BASE_PATH: basePath } }, async (own) => {
      expect(own.log).toContain(`${own.url}${basePath}/setup?token=`);
      const path = setupPathOf(own);
      const page = await own.visitor.get(prefix + path);
      expectStatus(page, 200);
      await expectAllLinks(own.visitor, page, path);
      expect(addresses(page, path, "action")).toEqual([`${basePath}/setup`]);
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
      const refused = await send("no address");
      expectStatus(refused, 400);
      await expectAllLinks(own.visitor, refused, "/setup");
      const done = await send("root@example.com");
      expectStatus(done, 201);
      await expectAllLinks(own.visitor, done, "/setup");
    });
  });
});

describe("addresses in answers below a base path", () => {
  test("lead to the content, the thumbnail and the page, stripped or not", async () => {
    const { client } = await server().signUp();
    const { content, info } = await sharedPicture({ client });
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

  test("an upload arrives under the base path", async () => {
    const { client } = await server().signUp();
    const form = new FormData();
    form.append("file", new File(["hello"], "h.txt"));
    const stored = await client.request("POST", `${basePath}/api/files/upload`, { body: form });
    expectStatus(stored, 201);
    expect((await client.get(new URL(stored.string("data.url")).pathname)).text).toBe("hello");
  });

  test("the OpenAPI document tells clients where its paths are", async () => {
    for (const prefix of prefixes) {
      const document = asObject((await server().visitor.get(`${prefix}/openapi.json`)).json);
      expect(document?.["servers"]).toEqual([{ url: basePath }]);
    }
  });

  test("only a whole segment is the base path", async () => {
    for (const path of ["/filesystem", `${basePath}${basePath}ystem`, `${basePath}x/api/files`]) {
      expectStatus(await server().visitor.get(path), 404);
    }
  });
});

describe("a public address with a base path", () => {
  test.each([
    ["alone", {}],
    ["beside it", { LARDER_BASE_PATH: basePath }],
  ])("given %s is in every address, and pages stay on their own host", async (_, extra) => {
    const publicUrl = "https://x.example/files";
    await withServer({ env: { LARDER_PUBLIC_URL: publicUrl, ...extra } }, async (own) => {
      expect(own.log).toContain(`${publicUrl}/setup?token=`);
      const { info, page } = await sharedPicture(await own.signUp());
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
