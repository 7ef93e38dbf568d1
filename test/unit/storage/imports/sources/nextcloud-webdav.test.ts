// What the source for Nextcloud does with responses that a running Larder does not send.
import { describe, expect, test } from "bun:test";
import { AllowedTargets } from "../../../../../src/lib/allowed-targets.ts";
import { OutboundError } from "../../../../../src/net/outbound-error.ts";
import { Outbound } from "../../../../../src/net/outbound.ts";
import { findUnusedPort } from "../../../../support/push-services.ts";
import { operatorNetwork } from "../../../../../src/features/storage/imports/sources/server/network.ts";
import { NextcloudSource } from "../../../../../src/features/storage/imports/sources/nextcloud/webdav-source.ts";
import { FILES_PATH, multistatus, nextcloud } from "../../../../support/dav-listings.ts";
import { readContent, readSource, type ScriptedResponse, scriptedServer } from "../../../../support/import-sources.ts";

const server = await scriptedServer();
const other = await scriptedServer();
const PASSWORD = "app-password";

function source(address = server.url, username = "ada"): NextcloudSource {
  return new NextcloudSource({
    network: operatorNetwork(),
    address,
    username,
    password: PASSWORD,
    backoff: { firstMs: 1, maxMs: 2 },
  });
}

async function failureOf(work: Promise<unknown>): Promise<{ message: string; isTemporary: boolean }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error && "isTemporary" in error) {
      return { message: error.message, isTemporary: error.isTemporary === true };
    }
    throw error;
  }
  throw new Error("it did not fail");
}

async function pathsOf(address?: string): Promise<string[]> {
  return (await readSource(source(address))).files.map(({ path }) => path);
}

const ONE_FILE = nextcloud({ "a.txt": { content: "hello" } });

describe("the address", () => {
  test("may lead to an installation below another path", async () => {
    server.respond((request) => {
      if (request.path === "/") return { status: 302, headers: { location: "/cloud/index.php/login" } };
      if (request.path === "/cloud/index.php/login") return { body: "<html>" };
      const below = request.path.replace(/^\/cloud/, "");
      if (below === request.path) return undefined;
      const response = ONE_FILE({ ...request, path: below });
      if (response === undefined) return undefined;
      return { ...response, body: String(response.body).replaceAll(FILES_PATH, `/cloud${FILES_PATH}`) };
    });
    expect(await pathsOf()).toEqual(["a.txt"]);
  });

  test("names the user by what the server says, not by what the person entered", async () => {
    server.respond(ONE_FILE);
    expect((await readSource(source(server.url, "ada@example.org"))).files).toHaveLength(1);
    expect(server.requests.every(({ path }) => !path.includes("example.org"))).toBe(true);
  });

  test("makes no difference for what was imported before", async () => {
    server.respond(nextcloud({ "a.txt": {} }, "<oc:fileid>7</oc:fileid><oc:id>00000007oc8s3kqz1x</oc:id>"));
    const sources = [
      source(),
      source(server.url.replace("127.0.0.1", "localhost"), "ada@example.org"),
      source(`${server.url}${FILES_PATH}`),
    ];
    for (const one of sources) {
      await readSource(one);
    }
    expect(new Set(sources.map(({ identity }) => identity))).toEqual(new Set(["nextcloud oc8s3kqz1x ada"]));
  });

  test("of another server is named, but gets no credentials", async () => {
    server.respond(() => ({ status: 301, headers: { location: `${other.url}/remote.php/dav/` } }));
    const { message, isTemporary } = await failureOf(readSource(source()));
    expect([message, isTemporary]).toEqual([
      `The server redirects to ${other.url}. Enter the address that the browser shows there.`,
      false,
    ]);
    expect(other.requests).toEqual([]);
  });

  test.each([["ftp://example.org/"], ["example.org"], ["https://ada:secret@example.org/"]])(
    "%s is rejected",
    (address) => {
      expect(() => source(address)).toThrow("The address of the server must");
    },
  );

  test("of a page without WebDAV is explained", async () => {
    server.respond(({ method }) => (method === "GET" ? { body: "<html>" } : { status: 405 }));
    expect((await failureOf(readSource(source()))).message).toContain(
      "No WebDAV folder is at this address (status 405)",
    );
    server.respond(({ method }) => (method === "GET" ? { body: "<html>" } : { status: 207, body: "<html></html>" }));
    expect((await failureOf(readSource(source()))).message).toContain("not the list of a WebDAV folder");
  });
});

test("the address of a file is rejected", async () => {
  server.respond((request) => (request.method === "PROPFIND" ? multistatus([{ href: "/a.txt" }]) : { status: 404 }));
  expect((await failureOf(readSource(source(`${server.url}/a.txt`)))).message).toContain("A file is at this address");
});

describe("a list", () => {
  test("has tags, favorites, and IDs that outlast a move", async () => {
    const properties = `<oc:fileid>42</oc:fileid><oc:favorite>1</oc:favorite><oc:comments-count>2</oc:comments-count>
      <nc:system-tags><nc:system-tag oc:id="1">Travel &amp; more</nc:system-tag></nc:system-tags>
      <oc:tags><oc:tag>own</oc:tag></oc:tags>`;
    server.respond(nextcloud({ "a.txt": { properties }, "b.txt": {} }));
    const { files, leftOut } = await readSource(source());
    expect(files.map(({ key, version, details }) => ({ key, version, details }))).toEqual([
      {
        key: "42",
        version: "e|favorite|Travel & more|own",
        details: { isFavorite: true, tags: ["Travel & more", "own"] },
      },
      { key: "b.txt", version: "e", details: {} },
    ]);
    expect(leftOut.find(({ name }) => name === "Comments")?.count).toBe(2);
  });

  test("leaves out what others share, and what only apps can read", async () => {
    server.respond(
      nextcloud({
        "from-others/": { properties: "<nc:mount-type>shared</nc:mount-type>" },
        "from-others/a.txt": {},
        "group/": { properties: "<nc:mount-type>group</nc:mount-type>" },
        "group/b.txt": {},
        "old.txt": { properties: "<oc:permissions>SRDNVW</oc:permissions>" },
        "vault/": { properties: "<nc:is-encrypted>1</nc:is-encrypted>" },
        "vault/0123": {},
      }),
    );
    const { files, leftOut } = await readSource(source());
    expect(files.map(({ path }) => path)).toEqual(["group/b.txt"]);
    expect(leftOut.map(({ name }) => name)).toEqual(["Earlier versions", "from-others", "old.txt", "vault"]);
  });

  test("names shares, and counts the trash", async () => {
    const shares = [{ path: "/a.txt" }, { path: "/a.txt" }, { path: "/sub" }];
    server.respond((request) => {
      const [path = ""] = request.path.split("?");
      if (path.endsWith("/api/v1/shares")) return { body: JSON.stringify({ ocs: { data: shares } }) };
      const trash = "/remote.php/dav/trashbin/ada/trash/";
      if (path === trash) return multistatus([{ href: trash }, { href: `${trash}x.d1` }, { href: `${trash}y.d2/` }]);
      return ONE_FILE(request);
    });
    const { leftOut } = await readSource(source());
    expect(leftOut.map(({ name, reason, count }) => [name, reason, count])).toEqual([
      ["/a.txt", "unsupported", 2],
      ["/sub", "unsupported", 1],
      ["Trash", "trashed", 2],
      ["Earlier versions", "unsupported", undefined],
    ]);
  });

  test("may name files in any encoding, and by whole addresses", async () => {
    const base = `${server.url}${FILES_PATH}`;
    server.respond((request) => {
      if (request.method === "GET" && request.path === `${FILES_PATH}%E4.txt`) return { body: "latin" };
      if (request.method !== "PROPFIND") return ONE_FILE(request);
      if (request.path !== FILES_PATH) return multistatus([]);
      return multistatus([
        { href: base },
        { href: `${base}%E4.txt`, sizeBytes: 5 },
        { href: `${base}a%2Fb.txt` },
        { href: `${base}%2e%2e/` },
      ]);
    });
    const { files } = await readSource(source());
    expect(files.map(({ path }) => path)).toEqual(["a_b.txt", "\ufffd.txt"]);
    expect(Buffer.from(await readContent(files[1])).toString()).toBe("latin");
  });

  test("may have names that look like addresses", async () => {
    const names = ["https:a.txt", "https:sub/", "https:sub/mailto:b.txt"];
    server.respond(nextcloud(Object.fromEntries(names.map((name) => [name, { content: name }]))));
    const { files } = await readSource(source());
    expect(files.map(({ path }) => path)).toEqual(["https:a.txt", "https:sub/mailto:b.txt"]);
    for (const file of files) {
      expect(Buffer.from(await readContent(file)).toString()).toBe(file.path);
    }
  });

  test("may have other paths than the request, behind a proxy", async () => {
    server.respond((request) => {
      if (request.method !== "PROPFIND") return ONE_FILE(request);
      return multistatus([{ href: "/inside/" }, { href: "/inside/a.txt" }]);
    });
    expect(await pathsOf()).toEqual(["a.txt"]);
  });

  test("of a folder that the server does not give is reported", async () => {
    server.respond((request) => {
      if (request.path === `${FILES_PATH}locked/`) return { status: 403 };
      if (request.path === `${FILES_PATH}lost-disk/`) return { status: 503 };
      return nextcloud({ "locked/": {}, "lost-disk/": {}, "open/": {}, "open/a.txt": {} })(request);
    });
    const { files, leftOut } = await readSource(source());
    expect(files.map(({ path }) => path)).toEqual(["open/a.txt"]);
    expect(leftOut.slice(1).map(({ name, reason }) => [name, reason])).toEqual([
      ["locked", "unreadable"],
      ["lost-disk", "unreadable"],
    ]);
  });

  test("of 50,000 files is read", async () => {
    const names = Array.from({ length: 50_000 }, (_, at) => `photo-${String(at).padStart(5, "0")}.jpg`);
    server.respond(nextcloud(Object.fromEntries(names.map((name) => [name, {}]))));
    expect(await pathsOf()).toEqual(names);
  });

  test("with a document type, or that is cut off, is rejected", async () => {
    const reply = (body: string): ScriptedResponse => ({ status: 207, body });
    server.respond((request) =>
      request.method === "PROPFIND" ? reply('<!DOCTYPE x [<!ENTITY a "b">]><x/>') : ONE_FILE(request),
    );
    expect((await failureOf(readSource(source()))).isTemporary).toBe(false);
    server.respond((request) =>
      request.method === "PROPFIND" ? reply('<d:multistatus xmlns:d="DAV:"><d:response>') : ONE_FILE(request),
    );
    expect((await failureOf(readSource(source()))).message).toContain("not the list of a WebDAV folder");
  });
});

describe("temporary failures", () => {
  test.each([
    ["a limit of requests", { status: 429, headers: { "retry-after": "0" } }],
    ["a busy server", { status: 503 }],
    ["a proxy without its server", { status: 502 }],
  ])("of %s are repeated", async (_, failure) => {
    let failures = 2;
    server.respond((request) => (request.method === "PROPFIND" && failures-- > 0 ? failure : ONE_FILE(request)));
    expect(await pathsOf()).toEqual(["a.txt"]);
  });

  test("end, if they do not pass", async () => {
    server.respond((request) => (request.method === "PROPFIND" ? { status: 503 } : ONE_FILE(request)));
    expect(await failureOf(readSource(source()))).toEqual({
      message: "The server is not available (status 503). Try again later.",
      isTemporary: true,
    });
    expect(server.requests.filter(({ method }) => method === "PROPFIND")).toHaveLength(5);
    server.respond(() => ({ status: 429, headers: { "retry-after": "3600" } }));
    expect((await failureOf(readSource(source()))).isTemporary).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  test("by maintenance are named", async () => {
    server.respond(() => ({ status: 503, headers: { "x-nextcloud-maintenance-mode": "1" } }));
    expect((await failureOf(readSource(source()))).message).toContain("maintenance mode");
    server.respond(() => ({ body: JSON.stringify({ versionstring: "31.0.4", maintenance: true }) }));
    expect(await failureOf(readSource(source()))).toMatchObject({ isTemporary: true });
  });

  test("in the middle of a list are repeated", async () => {
    let isFirst = true;
    server.respond((request) => {
      const response = ONE_FILE(request);
      if (request.method !== "PROPFIND" || !isFirst) return response;
      isFirst = false;
      return { ...response, cutAfter: 100 };
    });
    expect(await pathsOf()).toEqual(["a.txt"]);
  });

  test("end when the import is canceled", async () => {
    const cancel = new AbortController();
    server.respond((request) => {
      if (request.method !== "PROPFIND") return ONE_FILE(request);
      cancel.abort();
      return { status: 503, headers: { "retry-after": "200" } };
    });
    const work = readSource(source(), cancel.signal);
    expect(await work.catch((error: unknown) => error)).toMatchObject({ name: "AbortError" });
  });
});

describe("a download", () => {
  const text = "0123456789";

  /** Downloads `a.txt`, whose list has these properties. */
  async function downloaded(properties: string, respond: (range: string | undefined) => ScriptedResponse) {
    const listed = nextcloud({ "a.txt": { content: text, properties } });
    server.respond((request) => {
      const isDownload = request.method === "GET" && request.path === `${FILES_PATH}a.txt`;
      return isDownload ? respond(request.headers.range) : listed(request);
    });
    const { files } = await readSource(source());
    return Buffer.from(await readContent(files[0])).toString();
  }

  test("that breaks continues where it broke", async () => {
    const ranges: (string | undefined)[] = [];
    const content = await downloaded("", (range) => {
      ranges.push(range);
      const at = Number(/\d+/.exec(range ?? "0")?.[0]);
      const rest = { status: 206, headers: { etag: '"1"', "content-range": `bytes ${at}-9/10` } };
      const headers = range === undefined ? { headers: { etag: '"1"' } } : rest;
      return { ...headers, body: text.slice(at), ...(at < 6 && { cutAfter: 3 }) };
    });
    expect(content).toBe(text);
    expect(ranges).toEqual([undefined, "bytes=3-", "bytes=6-"]);
  });

  test("that breaks ends, if the content could have changed", async () => {
    const failure = await failureOf(downloaded("", () => ({ body: text, cutAfter: 3 })));
    expect(failure).toEqual({
      message: "The connection was lost during a download. Try again later.",
      isTemporary: true,
    });
    const changed = await failureOf(
      downloaded("", (range) => ({
        body: text,
        headers: { etag: '"1"' },
        ...(range === undefined && { cutAfter: 3 }),
      })),
    );
    expect(changed.isTemporary).toBe(true);
  });

  test("of another size or with another checksum is no file", async () => {
    expect((await failureOf(downloaded("", () => ({ body: "shorter" })))).message).toContain("another size");
    const sum = (hex: string) => `<oc:checksums><oc:checksum>MD5:x SHA1:${hex} ADLER32:1</oc:checksum></oc:checksums>`;
    const right = new Bun.CryptoHasher("sha1").update(text).digest("hex");
    expect(await downloaded(sum(right.toUpperCase()), () => ({ body: text }))).toBe(text);
    const wrong = await failureOf(downloaded(sum("a".repeat(40)), () => ({ body: text })));
    expect(wrong.message).toContain("differs from the SHA1 checksum");
    expect(wrong.isTemporary).toBe(false);
  });

  test.each([[403], [404], [423], [500], [503]])("with status %i fails alone", async (status) => {
    expect((await failureOf(downloaded("", () => ({ status })))).isTemporary).toBe(false);
  });

  test("fails with the server, if none succeeds", async () => {
    const names = Array.from({ length: 5 }, (_, at) => `${at}.txt`);
    const listed = nextcloud(Object.fromEntries(names.map((name) => [name, {}])));
    server.respond((request) => (request.path.endsWith(".txt") ? { status: 500 } : listed(request)));
    const { files } = await readSource(source());
    const outcomes: boolean[] = [];
    for (const file of files) {
      outcomes.push((await failureOf(readContent(file))).isTemporary);
    }
    expect(outcomes).toEqual([false, false, false, false, true]);
  });

  test("that the server rejects ends the list", async () => {
    server.respond((request) =>
      request.path.endsWith(".txt") ? { status: 401 } : nextcloud({ "a.txt": {}, "b.txt": {} })(request),
    );
    const entries = source().entries(new AbortController().signal);
    let first: Promise<unknown> | undefined;
    const work = (async () => {
      for await (const entry of entries) {
        if (entry.type !== "file") continue;
        first ??= failureOf(readContent(entry.file));
        await first;
      }
    })();
    expect((await failureOf(work)).message).toContain("rejected the user name or the password");
  });
});

test("a certificate that is not trusted is explained, and not tried again", async () => {
  let attempts = 0;
  const network = {
    open: async () => {
      attempts++;
      throw new OutboundError("unreachable", "no connection (DEPTH_ZERO_SELF_SIGNED_CERT)");
    },
  };
  const untrusted = new NextcloudSource({ network, address: "https://a.test", username: "ada", password: PASSWORD });
  const { message, isTemporary } = await failureOf(readSource(untrusted));
  expect(message).toContain("The certificate of the server is not trusted");
  expect([isTemporary, attempts]).toEqual([false, 1]);
});

test("a server of this machine is not reached for users", async () => {
  server.respond(ONE_FILE);
  const network = new Outbound({ allow: AllowedTargets.parse([]) });
  for (const address of [server.url, server.url.replace("http", "https")]) {
    const guarded = new NextcloudSource({ network, address, username: "ada", password: PASSWORD });
    const { message, isTemporary } = await failureOf(readSource(guarded));
    expect(message).toContain("ask the administrator to allow it (LARDER_OUTBOUND_ALLOW)");
    expect(isTemporary).toBe(false);
  }
  expect(server.requests).toEqual([]);
});

test("what is in a private network is not described to users", async () => {
  const network = new Outbound({ allow: AllowedTargets.parse(["127.0.0.1"]) });
  const address = `http://127.0.0.1:${await findUnusedPort()}`;
  const backoff = { firstMs: 1, maxMs: 2 };
  const guarded = new NextcloudSource({ network, address, username: "ada", password: PASSWORD, backoff });
  expect(await failureOf(readSource(guarded))).toEqual({
    message: "The server could not be reached. Check its address.",
    isTemporary: true,
  });
});

test("credentials are sent, and never named", async () => {
  server.respond(ONE_FILE);
  await readSource(source());
  const expected = `Basic ${Buffer.from(`ada:${PASSWORD}`).toString("base64")}`;
  expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([expected]));
  server.respond(() => ({ status: 500, body: PASSWORD }));
  expect((await failureOf(readSource(source()))).message).not.toContain(PASSWORD);
});
