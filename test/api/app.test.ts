// The pages: the HTML document, the files it loads, and the files that make it installable.
import { beforeAll, describe, expect, test } from "bun:test";
import type { ApiResponse } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer();

const pages = [
  "/",
  "/files",
  "/files/Photos/2024/%C3%9C%20%26%20x",
  "/photos",
  "/search?q=a",
  "/shared/by-me",
  "/shared/with-me",
  "/trash",
  "/history",
  "/settings",
  "/settings/password",
  "/admin",
  "/admin/users",
];

/** The headers of a browser that is signed in. */
let cookie = "";

beforeAll(async () => {
  const { email, password } = await server().signUp();
  const signedIn = await server().visitor.post("/api/auth/signin", { email, password, cookie: true });
  cookie = signedIn.header("set-cookie").split(";")[0] ?? "";
});

async function startScript(): Promise<string> {
  const page = await server().visitor.get("/app-document");
  return / src="(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? "";
}

function decodeBody(response: ApiResponse): string {
  const bytes = new Uint8Array(response.bytes);
  const encoding = response.headers.get("content-encoding");
  if (encoding === null) return new TextDecoder().decode(bytes);
  throw new Error(`the client did not decode ${encoding}`);
}

describe("the document of the application", () => {
  test.each(pages)("is at %s, the same as in the cache of the service worker except for preloads", async (path) => {
    const page = await server().visitor.get(path, { cookie });
    expectStatus(page, 200);
    expect(page.header("content-type")).toBe("text/html; charset=utf-8");
    expect(page.header("cache-control")).toBe("no-cache");
    const policy = page.header("content-security-policy");
    expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toContain("unsafe");
    expect(page.header("referrer-policy")).toBe("same-origin");
    const preload = /<link rel="(?:preload" as="fetch" crossorigin|modulepreload" fetchpriority="low") href="(.*)">\n/g;
    // Every page preloads the session; a page may preload more.
    expect([...page.text.matchAll(preload)].map(([, address]) => address)).toContain("/api/auth/session");
    expect(page.text.replace(preload, "")).toBe((await server().visitor.get("/app-document")).text);
  });

  test.each(pages)("at %s is the sign-in page for visitors and ended sessions", async (path) => {
    for (const headers of [undefined, { cookie: "larder_session=ended" }]) {
      const page = await server().visitor.get(path, headers);
      expectStatus(page, 200);
      expect(page.header("cache-control")).toBe("no-store");
      const next = path === "/" ? "/" : path.replaceAll("&", "&amp;");
      expect(page.text).toContain(`data-next="${next}"`);
    }
  });

  test("is sent to visitors where they sign up, and where the service worker caches it", async () => {
    for (const path of ["/sign-up", "/app-document"]) {
      const page = await server().visitor.get(path);
      expectStatus(page, 200);
      expect(page.text).toContain('<div id="app">');
    }
  });

  test("is not sent again to a client that has it", async () => {
    const page = await server().visitor.get("/files", { cookie });
    const again = await server().visitor.get("/files/Photos", { cookie, "if-none-match": page.header("etag") });
    expectStatus(again, 304);
    expect(again.bytes.length).toBe(0);
    expectStatus(await server().visitor.get("/photos", { cookie, "if-none-match": '"other"' }), 200);
  });

  test("preloads the data of a page only without a query, which can change it", async () => {
    const timeline = 'href="/api/photos/timeline"';
    expect((await server().visitor.get("/photos", { cookie })).text).toContain(timeline);
    const ofTown = (await server().visitor.get("/photos?place=2147714", { cookie })).text;
    expect(ofTown).not.toContain(timeline);
    expect(ofTown).toContain('href="/api/auth/session"');
  });

  test("responds to HEAD, and to no other method", async () => {
    const head = await server().visitor.head("/files", { cookie });
    expectStatus(head, 200);
    expect(head.bytes.length).toBe(0);
    const rejected = await server().visitor.post("/files", {});
    expectStatus(rejected, 405);
  });

  test.each(["/filesystem", "/photos/1", "/settings/a/b", "/shared", "/admin/users/1"])(
    "is not at %s, which is no page",
    async (path) => {
      expectStatus(await server().visitor.get(path, { accept: "text/html" }), 404);
    },
  );
});

describe("the sign-in page", () => {
  const signIn = (query: string, headers?: Record<string, string>) =>
    fetch(`${server().url}/sign-in${query}`, { redirect: "manual", ...(headers && { headers }) });

  test("loads at most 40 KB, styles, icon and passkeys included", async () => {
    const page = await signIn("");
    const text = await page.text();
    const addresses = [...text.matchAll(/ (?:href|src)="(\/assets\/[^"]+)"/g)].map(([, address = ""]) => address);
    const sizes = await Promise.all(
      [...new Set(addresses)].map(async (address) => {
        const file = await fetch(server().url + address, { headers: { "accept-encoding": "br" }, decompress: false });
        return (await file.arrayBuffer()).byteLength;
      }),
    );
    expect(sizes.length).toBeGreaterThanOrEqual(4);
    expect(sizes.reduce((total, size) => total + size, text.length)).toBeLessThan(40_000);
  });

  test("has a policy without inline scripts, and is not cached", async () => {
    const page = await signIn("");
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(await page.text()).not.toMatch(/<script(?![^>]* src=)| style=| on[a-z]+="/);
  });

  test.each([
    ["", "/"],
    ["?next=/trash%3Fsort%3Dname", "/trash?sort=name"],
    ["?next=//evil.example", "/"],
    ["?next=/%5Cevil.example", "/"],
    ["?next=/sign-in", "/"],
  ])("%p sends people who are signed in to %p", async (query, target) => {
    const response = await signIn(query, { cookie });
    expect([response.status, response.headers.get("location")]).toEqual([302, target]);
  });

  test("escapes the address to return to", async () => {
    const text = await (await signIn(`?next=${encodeURIComponent('/files/"><script>alert(1)</script>')}`)).text();
    expect(text).not.toContain("<script>alert");
  });
});

describe("the files of the application", () => {
  test("may be cached for ever, and have the requested encoding", async () => {
    const path = await startScript();
    const plain = await server().visitor.get(path, { "accept-encoding": "identity" });
    expectStatus(plain, 200);
    expect(plain.header("content-type")).toBe("text/javascript; charset=utf-8");
    expect(plain.header("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(plain.headers.get("content-encoding")).toBeNull();
    for (const [accepted, encoding] of [
      ["gzip, deflate, br, zstd", "br"],
      ["gzip", "gzip"],
      ["br;q=0, gzip;q=0.5", "gzip"],
      ["*", "br"],
      ["br;q=0, *;q=0", null],
      ["", null],
    ] as const) {
      const response = await fetch(server().url + path, {
        headers: { "accept-encoding": accepted },
        decompress: false,
      });
      expect([accepted, response.headers.get("content-encoding")]).toEqual([accepted, encoding]);
      expect(response.headers.get("vary")).toContain("Accept-Encoding");
      const sent = new Uint8Array(await response.arrayBuffer());
      const text = encoding === "gzip" ? Bun.gunzipSync(sent) : encoding === null ? sent : undefined;
      if (text === undefined) expect(sent.length).toBeLessThan(plain.bytes.length);
      else expect(new TextDecoder().decode(text)).toBe(decodeBody(plain));
    }
  });

  test("have a length in the response to HEAD", async () => {
    const path = await startScript();
    const plain = await server().visitor.get(path, { "accept-encoding": "identity" });
    const head = await server().visitor.head(path, { "accept-encoding": "identity" });
    expectStatus(head, 200);
    expect(head.header("content-length")).toBe(String(plain.bytes.length));
  });

  test("of another version are 404, and so are paths without a name", async () => {
    const path = await startScript();
    const [, , version = "", name = ""] = path.split("/");
    for (const wrong of [
      `/assets/000000000000/${name}`,
      `/assets/${version}/nothing.js`,
      `/assets/${version}/constructor`,
      `/assets/${version}/..%2f..%2fpackage.json`,
      `/assets/${version}/%E0%A4%A`,
    ]) {
      const response = await server().visitor.get(wrong);
      expect([wrong, response.status, response.at("success")]).toEqual([wrong, 404, false]);
    }
  });
});

describe("installing the application", () => {
  test("offers a manifest with icons that exist", async () => {
    const manifest = await server().visitor.get("/manifest.webmanifest");
    expectStatus(manifest, 200);
    expect(manifest.header("content-type")).toStartWith("application/manifest+json");
    expect(manifest.string("start_url")).toBe("/");
    for (const icon of manifest.strings("icons", "src")) {
      const response = await server().visitor.get(icon);
      expectStatus(response, 200);
      expect(response.header("content-type")).toBe("image/png");
    }
  });

  test("offers a service worker that is revalidated each time", async () => {
    const worker = await server().visitor.get("/service-worker.js");
    expectStatus(worker, 200);
    expect(worker.header("content-type")).toBe("text/javascript; charset=utf-8");
    expect(worker.header("cache-control")).toBe("no-cache");
    expect(worker.text).toContain("share-target");
  });

  test("redirects what another app shares before the worker is active, and reports it as missed", async () => {
    const form = new FormData();
    form.append("files", new File(["x"], "x.txt"));
    const response = await server().visitor.request("POST", "/share-target", { body: form });
    expectStatus(response, 303);
    expect(response.header("location")).toBe("/files?shared=missed");
  });
});

testAllResponses(server);
