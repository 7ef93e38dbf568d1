import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Client, digestOf } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { tinyPng } from "../support/images.ts";
import { testAllAnswers } from "../support/laws.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer();

/** Uploads a public file; its id and the token of its link. */
async function shared(client: Client, content: string | Uint8Array, name = "shared.txt", type = "text/plain") {
  const id = await client.storedId(content, { name, type, fields: { isPublic: "true", description: "said" } });
  const link = (await client.get(`/api/files/${id}`)).string("data.shareLink");
  return { id, link, token: link.split("/").at(-1) ?? "" };
}

describe("isPublic", () => {
  test("true gives a link of at least 128 random bits, URL-safe (D53)", async () => {
    const { client } = await server().signUp();
    const tokens = new Set<string>();
    for (let index = 0; index < 20; index++) {
      const { link, token } = await shared(client, `${index}`, `${index}`);
      expect(link).toBe(`${server().url}/s/${token}`);
      expect(token).toMatch(/^[A-Za-z0-9_-]{22,}$/);
      tokens.add(token);
    }
    expect(tokens.size).toBe(20);
  });

  test("false revokes it, true again makes a new one", async () => {
    const { client } = await server().signUp();
    const { id, token } = await shared(client, "x");
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
    const { id, link } = await shared(client, "x");
    expect((await client.put(`/api/files/${id}`, { isPublic: true })).at("data.shareLink")).toBe(link);
  });

  test("survives rename, move and a new content", async () => {
    const { client } = await server().signUp();
    const { id, token } = await shared(client, "old");
    await client.put(`/api/files/${id}`, { name: "new.txt", folder: "/deep" });
    await client.putContent(id, "new");
    expect((await server().visitor.get(`/s/${token}/download`)).text).toBe("new");
  });
});

describe("/s/{token}", () => {
  test("is a plain page that names the file", async () => {
    const { client } = await server().signUp();
    const { token } = await shared(client, "hello", "holiday list.txt");
    const answer = await server().visitor.get(`/s/${token}`);
    expectStatus(answer, 200);
    expect(answer.header("content-type")).toStartWith("text/html");
    expect(answer.text).toContain("holiday list.txt");
    expect(answer.header("content-security-policy")).not.toBe("");
  });

  test("escapes what the file is called (D54)", async () => {
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

  test("sends the bytes to anybody, with the share's headers", async () => {
    const { client } = await server().signUp();
    const { token } = await shared(client, "hello world");
    const answer = await server().visitor.get(path(token));
    expectStatus(answer, 200);
    expect(answer.text).toBe("hello world");
    expect(answer.header("content-length")).toBe("11");
    expect(answer.header("content-disposition")).toContain("shared.txt");
    expect(answer.header("cache-control")).toBe("private, no-cache");
    expect(answer.header("referrer-policy")).toBe("no-referrer");
    expect(answer.header("x-robots-tag")).toContain("noindex");
    expect(answer.header("x-content-type-options")).toBe("nosniff");
    expect(answer.header("content-security-policy")).toMatch(/\bsandbox\b/);
    expect(answer.header("etag")).toBe(`"${digestOf("hello world")}"`);
  });

  test("answers ranges, conditions and HEAD", async () => {
    const { client } = await server().signUp();
    const { token } = await shared(client, "hello world");
    const range = await server().visitor.get(path(token), { range: "bytes=6-" });
    expectStatus(range, 206);
    expect(range.text).toBe("world");
    const etag = `"${digestOf("hello world")}"`;
    expectStatus(await server().visitor.get(path(token), { "if-none-match": etag }), 304);
    const head = await server().visitor.head(path(token));
    expectStatus(head, 200);
    expect(head.header("content-length")).toBe("11");
  });

  test("never runs what is shared in our origin (D54)", async () => {
    const { client } = await server().signUp();
    const kinds: [string, string, string][] = [
      ["<script>alert(1)</script>", "x.html", "text/html"],
      ['<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', "x.svg", "image/svg+xml"],
      ["alert(1)", "x.js", "text/javascript"],
    ];
    for (const [content, name, type] of kinds) {
      const { token } = await shared(client, content, name, type);
      for (const query of ["", "?inline=true"]) {
        const answer = await server().visitor.get(path(token) + query);
        expectStatus(answer, 200);
        expect(answer.header("content-disposition")).toStartWith("attachment");
        expect(answer.header("content-security-policy")).toMatch(/\bsandbox\b/);
        expect(answer.header("content-security-policy")).not.toMatch(/allow-scripts/);
      }
    }
    const { token } = await shared(client, tinyPng(), "x.png", "image/png");
    expect((await server().visitor.get(path(token))).header("content-type")).toBe("image/png");
  });

  test("counts as a download of the file", async () => {
    const { client } = await server().signUp();
    const { id, token } = await shared(client, "x");
    await server().visitor.get(path(token));
    expect((await client.get(`/api/files/${id}`)).at("data.downloadCount")).toBe(1);
  });

  test("of an unknown token is 404, all alike (D53)", async () => {
    const { client } = await server().signUp();
    const { id, token } = await shared(client, "x");
    const last = token.endsWith("A") ? "B" : "A";
    for (const tried of ["nothing", token.slice(0, -1), token.slice(0, -1) + last, `${token}A`, id, "%00", "..%2f.."])
      expectStatus(await server().visitor.get(path(tried)), 404);
  });
});

describe("GET /api/public/{token}", () => {
  test("tells what is shared and nothing of its owner's place", async () => {
    const { client, email, id: userId } = await server().signUp();
    const id = await client.storedId("hello", {
      name: "a.txt",
      fields: { isPublic: "true", folder: "/private/place" },
    });
    const token = (await client.get(`/api/files/${id}`)).string("data.shareLink").split("/").at(-1) ?? "";
    const answer = await server().visitor.get(`/api/public/${token}`);
    expectStatus(answer, 200);
    expect(answer.at("success")).toBe(true);
    expect(answer.text).toContain("a.txt");
    for (const secret of ["/private/place", "private", email, userId]) expect(answer.text).not.toContain(secret);
  });

  test("of an unknown token is 404", async () => {
    expectStatus(await server().visitor.get("/api/public/nothing"), 404);
  });
});

describe("the first download", () => {
  test("is noted when content goes out, not for the page, HEAD, 304 or a thumbnail", async () => {
    const { client } = await server().signUp();
    const { id, token } = await shared(client, tinyPng(), "a.png", "image/png");
    const isNoted = () => {
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
    expect(isNoted()).toBe(false);
    expectStatus(await visitor.get(path, { range: "bytes=0-3" }), 206);
    await eventually("the download is noted", isNoted);
  });
});

testAllAnswers(server);
