import { describe, expect, test } from "bun:test";
import type { ApiResponse, Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { field, file, form, formType } from "../support/multipart.ts";
import { pdf } from "../support/sample-library.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

async function createShare(client: Client, path: string, settings: object = {}): Promise<string> {
  const made = await client.post(`/api/files/${path}/shares`, settings);
  expectStatus(made, 201);
  return made.string("data.token");
}

/** Paths of the links in a page. */
function linksIn(page: ApiResponse): string[] {
  return [...page.text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url = ""]) => url.replaceAll("&amp;", "&"));
}

const asForm = { "content-type": "application/x-www-form-urlencoded" };

describe("the page of a shared folder", () => {
  test("shows pictures of documents, but opens only photos as an image", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("Mixed");
    await client.storedId(pdf(["A plan"]), { name: "plan.pdf", fields: { folder: "/Mixed" } });
    await client.storedId(await jpegPhoto(40, 30), { name: "beach.jpg", fields: { folder: "/Mixed" } });
    const page = await server().visitor.get(`/s/${await createShare(client, `folders/${folder}`)}`);
    expect(page.text.match(/thumbnail=(small|medium)/g)).toHaveLength(2);
    expect(page.text.match(/data-view="\w+"/g)).toEqual(['data-view="image"']);
  });

  test("lists files and folders, and links to subfolders, the parent folder and each file", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("Summer & Sun");
    await client.storedId("x", { name: "a <b>.txt", fields: { folder: "/Summer & Sun" } });
    await client.storedId(await jpegPhoto(40, 30), { name: "beach.jpg", fields: { folder: "/Summer & Sun/deep/er" } });
    const token = await createShare(client, `folders/${folder}`);
    const { visitor } = server();
    const page = await visitor.get(`/s/${token}`);
    expectStatus(page, 200);
    expect(page.text).toContain("Summer &amp; Sun");
    expect(page.text).toContain("a &lt;b&gt;.txt");
    expect(page.text).not.toMatch(/<script(?![^>]* src="\/assets\/)/);
    const policy = page.header("content-security-policy");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    for (const [name, value] of [
      ["cache-control", "private, no-cache"],
      ["referrer-policy", "no-referrer"],
      ["x-robots-tag", "noindex"],
    ] as const)
      expect(page.header(name)).toBe(value);
    for (const url of linksIn(page)) expectStatus(await visitor.get(url), 200);
    const deeper = await visitor.get(`/s/${token}?folder=${encodeURIComponent("/deep/er")}`);
    expect(deeper.text).toContain('alt="" width="48"');
    const links = linksIn(deeper);
    expect(links).toContain(`/s/${token}`);
    expect(links).toContain(`/s/${token}?folder=%2Fdeep`);
    for (const url of links) expectStatus(await visitor.get(url), 200);
    const filePage = links.find((url) => url.includes("?fileId=") && !url.includes("download")) ?? "";
    const shown = await visitor.get(filePage);
    expect(shown.text).toContain("beach.jpg");
    for (const url of linksIn(shown)) expectStatus(await visitor.get(url), 200);
  });

  test("has pages of 100, and can be sorted", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("many");
    await Promise.all(
      Array.from({ length: 101 }, (_, index) =>
        client.storedId("x".repeat(index + 1), {
          name: `${String(index).padStart(3, "0")}.txt`,
          fields: { folder: "/many" },
        }),
      ),
    );
    const token = await createShare(client, `folders/${folder}`);
    const first = await server().visitor.get(`/s/${token}`);
    expect(first.text).toContain("Page 1 of 2");
    expect(first.text).toContain("000.txt");
    expect(first.text).not.toContain("100.txt");
    const next = linksIn(first).find((url) => url.includes("page=2")) ?? "";
    expect((await server().visitor.get(next)).text).toContain("100.txt");
    const largest = await server().visitor.get(`/s/${token}?sort=size&order=desc`);
    expect(largest.text).toContain("100.txt");
    expect(largest.text).not.toContain("000.txt");
  });
});

test("the page of a shared folder counts numbers in names, and shows and sorts by the files' own dates", async () => {
  const { client } = await server().signUp();
  const folder = await client.folderId("notes");
  for (const [name, year] of [
    ["note 10.txt", 2011],
    ["note 2.txt", 2019],
  ] as const) {
    await client.stored(name, { name, fields: { folder: "/notes", fileModifiedAt: `${year}-05-06T12:00:00Z` } });
  }
  const token = await createShare(client, `folders/${folder}`);
  const byName = (await server().visitor.get(`/s/${token}`)).text;
  expect(byName.indexOf("note 2.txt")).toBeLessThan(byName.indexOf("note 10.txt"));
  expect(byName).toContain("2019-05-06");
  const byDate = (await server().visitor.get(`/s/${token}?sort=fileModifiedAt`)).text;
  expect(byDate.indexOf("note 10.txt")).toBeLessThan(byDate.indexOf("note 2.txt"));
  // Not if the share hides when photos were taken.
  const hiding = await createShare(client, `folders/${folder}`, { hideLocation: true });
  const hidden = await server().visitor.get(`/s/${hiding}`);
  expect(hidden.text).not.toContain("2019-05-06");
  expectStatus(await server().visitor.get(`/s/${hiding}?sort=fileModifiedAt`), 400);
});

describe("a selection on the page of a shared folder", () => {
  const send = (token: string, ids: string[], headers: Record<string, string> = {}) =>
    server().visitor.request("POST", `/s/${token}/archive`, {
      body: new URLSearchParams(ids.map((id): [string, string] => ["id", id])).toString(),
      headers: { ...asForm, ...headers },
    });

  test("is sent as one ZIP, with subfolders, and counts as one download", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("trip");
    const selected = await client.storedId("one", { name: "one.txt", fields: { folder: "/trip" } });
    await client.storedId("two", { name: "two.txt", fields: { folder: "/trip" } });
    await client.storedId("deep", { name: "deep.txt", fields: { folder: "/trip/below" } });
    const below = (await client.get("/api/files?folder=/trip&type=folder")).string("data.files.0.id");
    const made = await client.post(`/api/files/folders/${folder}/shares`, {});
    const token = made.string("data.token");
    const response = await send(token, [selected, below, selected]);
    expectStatus(response, 200);
    expect(response.header("content-type")).toBe("application/zip");
    expect(response.header("content-disposition")).toStartWith("attachment");
    for (const name of ["one.txt", "below/deep.txt"]) expect(response.text).toContain(name);
    expect(response.text).not.toContain("two.txt");
    expect((await client.get(`/api/shares/${made.string("data.id")}`)).at("data.downloads")).toBe(1);
  });

  test("is rejected if empty, outside the folder, sent from another site, or not allowed by the link", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("trip");
    const inside = await client.storedId("in", { fields: { folder: "/trip" } });
    const outside = await client.storedId("out", { name: "outside.txt" });
    const token = await createShare(client, `folders/${folder}`);
    expectStatus(await send(token, []), 400);
    expectStatus(await send(token, [outside]), 404);
    expectStatus(await send(token, [inside, outside]), 404);
    expectStatus(await send(token, [inside], { origin: "https://elsewhere.example" }), 403);
    expectStatus(await send(await createShare(client, inside), [inside]), 400);
    expectStatus(await send(await createShare(client, `folders/${folder}`, { hideLocation: true }), [inside]), 403);
    expectStatus(await send(await createShare(client, `folders/${folder}`, { permissions: "upload" }), [inside]), 403);
    expectStatus(
      await send(await createShare(client, `folders/${folder}`, { password: "open sesame" }), [inside]),
      401,
    );
  });
});

describe("a locked page", () => {
  test("asks for the password, reveals nothing, and is unlocked by a cookie for its own path", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("secret", { name: "salary.txt" });
    const token = await createShare(client, id, { password: "open sesame" });
    const other = await createShare(client, id, { password: "open sesame" });
    const { visitor } = server();
    const locked = await visitor.get(`/s/${token}`);
    expectStatus(locked, 401);
    expect(locked.text).toContain(`action="/s/${token}/unlock"`);
    for (const secret of ["salary", "6 bytes", "txt"]) expect(locked.text).not.toContain(secret);
    const wrong = await visitor.request("POST", `/s/${token}/unlock`, { body: "password=nope", headers: asForm });
    expectStatus(wrong, 401);
    expect(wrong.text).toContain("password is wrong");
    expect(wrong.headers.get("set-cookie")).toBeNull();
    const opened = await visitor.request("POST", `/s/${token}/unlock`, {
      body: "password=open+sesame",
      headers: { ...asForm, origin: server().url },
    });
    expectStatus(opened, 303);
    expect(opened.header("location")).toBe(`/s/${token}`);
    const cookie = opened.header("set-cookie");
    for (const part of [`Path=/s/${token}`, "HttpOnly", "SameSite=Lax", "Max-Age=3600"]) expect(cookie).toContain(part);
    const grant = { cookie: cookie.split(";")[0] ?? "" };
    expect((await visitor.get(`/s/${token}`, grant)).text).toContain("salary.txt");
    expect((await visitor.get(`/s/${token}/download`, grant)).text).toBe("secret");
    expectStatus(await visitor.get(`/s/${other}`, grant), 401);
    // Without the cookie, the page asks for the password again, also on an old link to the file.
    const withoutCookie = await visitor.get(`/s/${token}/download`, { accept: "text/html" });
    expectStatus(withoutCookie, 401);
    expect(withoutCookie.text).toContain("/unlock");
  });

  test("rejects a form from another site", async () => {
    const { client } = await server().signUp();
    const token = await createShare(client, await client.storedId("x"), { password: "open sesame" });
    for (const headers of [
      { origin: "https://elsewhere.example" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ]) {
      const response = await server().visitor.request("POST", `/s/${token}/unlock`, {
        body: "password=open+sesame",
        headers: { ...asForm, ...headers },
      });
      expectStatus(response, 403);
      expect(response.headers.get("set-cookie")).toBeNull();
    }
    // The page sends no referrer, so a browser sends `Origin: null`.
    const own = await server().visitor.request("POST", `/s/${token}/unlock`, {
      body: "password=open+sesame",
      headers: { ...asForm, origin: "null", "sec-fetch-site": "same-origin" },
    });
    expectStatus(own, 303);
  });

  test("below a base path limits its cookie to that path", async () => {
    await withServer({ args: ["--base-path", "/files"] }, async (based) => {
      const { client } = await based.signUp();
      const token = await createShare(client, await client.storedId("x"), { password: "open sesame" });
      const opened = await based.visitor.request("POST", `/s/${token}/unlock`, {
        body: "password=open+sesame",
        headers: asForm,
      });
      expect(opened.header("location")).toBe(`/files/s/${token}`);
      expect(opened.header("set-cookie")).toContain(`Path=/files/s/${token}`);
    });
  });
});

describe("the page of a video", () => {
  const film = new Uint8Array(Buffer.from("00000018667479706d703432000000006d70343269736f6d", "hex"));

  test("preloads nothing, and embeds no player if a limit counts downloads", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(film, { name: "a.mp4" });
    const [free, limited] = [await createShare(client, id), await createShare(client, id, { maxDownloads: 1 })];
    const page = await server().visitor.get(`/s/${free}`);
    expect(page.text).toMatch(/<video [^>]*preload="none"/);
    const one = await server().visitor.get(`/s/${limited}`);
    expect(one.text).not.toContain("<video");
    expect(linksIn(one).filter((url) => /download(?!.*thumbnail)/.test(url))).toEqual([`/s/${limited}/download`]);
  });
});

describe("the page of a drop box", () => {
  test("accepts a file from a plain form, and confirms the upload", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("box");
    const token = await createShare(client, `folders/${folder}`, { permissions: "upload", label: "Homework of 3b" });
    const page = await server().visitor.get(`/s/${token}`);
    expectStatus(page, 200);
    expect(page.text).toContain("Homework of 3b");
    expect(page.text).toContain(`action="/s/${token}/upload" enctype="multipart/form-data"`);
    const send = (name: string, headers: Record<string, string> = {}) =>
      server().visitor.request("POST", `/s/${token}/upload`, {
        body: form([field("sender", "Ana"), file(name, "hello")]),
        headers: { "content-type": formType, ...headers },
      });
    const sent = await send("mine.txt");
    expectStatus(sent, 201);
    expect(sent.text).toContain("mine.txt");
    expect(sent.text).toContain("</strong> was uploaded");
    expect(await client.names("/box")).toEqual(["mine.txt"]);
    const refused = await send("..");
    expectStatus(refused, 400);
    expect(refused.text).toContain('role="alert"');
    expect(refused.text).toContain(`action="/s/${token}/upload"`);
    expectStatus(await send("b.txt", { origin: "https://elsewhere.example" }), 403);
    expect(await client.names("/box")).toEqual(["mine.txt"]);
  });
});

describe("pages of closed links", () => {
  test("give the reason: expired, used up, or not found", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "salary.txt" });
    const expired = await createShare(client, id, { expiresIn: "1s", password: "open sesame" });
    const used = await createShare(client, id, { maxDownloads: 1 });
    const { visitor } = server();
    const html = { accept: "text/html" };
    expectStatus(await visitor.get(`/s/${used}/download`), 200);
    await eventually("it expires", async () => (await visitor.get(`/s/${expired}`)).status === 410);
    const pages: [string, number, string][] = [
      [expired, 410, "This link has expired"],
      [used, 410, "This link has reached its download limit"],
      ["A".repeat(32), 404, "Link not found"],
    ];
    for (const [token, status, text] of pages) {
      for (const path of [`/s/${token}`, `/s/${token}/download`]) {
        const page = await visitor.get(path, html);
        expectStatus(page, status);
        expect(page.text).toContain(text);
        expect(page.text).not.toContain("salary");
        expect(page.header("x-robots-tag")).toBe("noindex");
      }
    }
  });

  test("show no password form if the link has no password and the download limit is exceeded", async () => {
    await withServer({ env: { LARDER_RATE_LIMITS: "", LARDER_PLANS_FREE_LIMIT_DOWNLOADS: "1" } }, async (own) => {
      const { client } = await own.signUp();
      const token = await createShare(client, await client.storedId("x"));
      const download = (query: string) => own.visitor.get(`/s/${token}/download${query}`, { accept: "text/html" });
      expectStatus(await download(""), 200);
      const refused = await download("?thumbnail");
      expectStatus(refused, 429);
      expect(refused.text).toContain("Too many attempts");
      expect(refused.text).not.toContain("<form");
    });
  });

  test("are equal for all unknown links", async () => {
    const { client } = await server().signUp();
    const token = await createShare(client, await client.storedId("x"));
    const pages = await Promise.all(
      [token.slice(1), `${token}A`, token.toLowerCase().replace(/^./, "_"), "x", "A".repeat(32)].map((tried) =>
        server().visitor.get(`/s/${tried}`),
      ),
    );
    for (const page of pages) {
      expectStatus(page, 404);
      expect(page.text).toBe(pages[0]?.text ?? "");
    }
  });
});

testAllResponses(server);
