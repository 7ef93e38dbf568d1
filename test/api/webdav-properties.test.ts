// PROPFIND and PROPPATCH.
import { describe, expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import { expectStatus } from "../support/expect.ts";
import { type Multistatus, readMultistatus } from "../support/multistatus.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";
import { connectDav, type DavClient } from "../support/webdav.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } });

const NAMESPACES = `xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns" xmlns:x="urn:x"`;
const OC = "http://owncloud.org/ns";
const NC = "http://nextcloud.org/ns";

/** The body of a PROPFIND for these elements. */
const named = (...names: string[]) =>
  `<d:propfind ${NAMESPACES}><d:prop>${names.map((name) => `<${name}/>`).join("")}</d:prop></d:propfind>`;

async function propfind(dav: DavClient, path: string, body?: string, depth = "1"): Promise<Multistatus> {
  return readMultistatus(
    await dav.request("PROPFIND", path, { headers: { depth }, ...(body !== undefined && { body }) }),
  );
}

/** The texts of the properties that exist, of one entry. */
function textsOf(found: Multistatus, href: string): Record<string, string> {
  const properties = [...(found.get(href) ?? [])].filter(([, { status }]) => status === 200);
  return Object.fromEntries(properties.map(([name, { text }]) => [name, text]));
}

describe("PROPFIND", () => {
  test("lists a folder with its members, which have the ETags and dates of GET", async () => {
    const dav = await connectDav(await server().signUp());
    expectStatus(await dav.mkcol("sub"), 201);
    await dav.put("sub/deep.txt", "deep");
    await dav.put("a%20%26%20%C3%BC.txt", "one", { "x-oc-mtime": "1600000000.25", "content-type": "text/plain" });
    const found = await propfind(dav, "", named("d:getetag", "d:getlastmodified", "d:getcontentlength", "oc:size"));
    expect([...found.keys()]).toEqual(["/dav/", "/dav/sub/", "/dav/a%20%26%20%C3%BC.txt"]);
    const file = await dav.get("a%20%26%20%C3%BC.txt");
    expect(textsOf(found, "/dav/a%20%26%20%C3%BC.txt")).toEqual({
      "DAV:getetag": file.header("etag") ?? "",
      "DAV:getlastmodified": "Sun, 13 Sep 2020 12:26:40 GMT",
      "DAV:getcontentlength": "3",
      [`${OC}size`]: "3",
    });
    expect(textsOf(found, "/dav/sub/")[`${OC}size`]).toBe("4");
    expect(textsOf(found, "/dav/")[`${OC}size`]).toBe("7");
    expect(found.get("/dav/sub/")?.get("DAV:getcontentlength")?.status).toBe(404);
  });

  test("of a file, or with Depth 0, returns one entry; a folder needs no slash at the end", async () => {
    const dav = await connectDav(await server().signUp());
    await dav.mkcol("sub");
    await dav.put("sub/a.txt", "a");
    expect([...(await propfind(dav, "sub/a.txt")).keys()]).toEqual(["/dav/sub/a.txt"]);
    expect([...(await propfind(dav, "sub", undefined, "0")).keys()]).toEqual(["/dav/sub/"]);
    expect([...(await propfind(dav, "sub")).keys()]).toEqual(["/dav/sub/", "/dav/sub/a.txt"]);
    const noDepth = await dav.request("PROPFIND", "sub/");
    expect([...readMultistatus(noDepth).keys()]).toEqual(["/dav/sub/", "/dav/sub/a.txt"]);
    expect(noDepth.header("content-type")).toBe("application/xml; charset=utf-8");
  });

  test("returns by default the properties of RFC 4918, and by name what sync clients ask for", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    const put = await dav.put("p.jpg", "x", { "content-type": "image/jpeg" });
    const all = await propfind(dav, "p.jpg");
    expect(Object.keys(textsOf(all, "/dav/p.jpg"))).toEqual(
      [
        "resourcetype",
        "getetag",
        "getlastmodified",
        "creationdate",
        "getcontentlength",
        "getcontenttype",
        "displayname",
        "supportedlock",
        "lockdiscovery",
      ].map((name) => `DAV:${name}`),
    );
    expect(textsOf(all, "/dav/p.jpg")).toMatchObject({
      "DAV:getcontenttype": "image/jpeg",
      "DAV:displayname": "p.jpg",
    });
    const names = ["oc:id", "oc:fileid", "oc:permissions", "oc:checksums", "oc:favorite", "oc:owner-display-name"];
    const extra = await propfind(
      dav,
      "p.jpg",
      named(...names, "nc:has-preview", "nc:is-encrypted", "oc:dDC", "oc:tags"),
    );
    const texts = textsOf(extra, "/dav/p.jpg");
    const id = put.header("oc-fileid") ?? "";
    expect(texts).toEqual({
      [`${OC}id`]: id,
      [`${OC}fileid`]: String(Number(/^\d+/.exec(id)?.[0])),
      [`${OC}permissions`]: "GDNVW",
      [`${OC}checksums`]: `SHA256:${put.header("etag")?.replaceAll('"', "")}`,
      [`${OC}favorite`]: "0",
      [`${OC}owner-display-name`]: "Test User",
      [`${OC}tags`]: "",
      [`${NC}has-preview`]: "true",
      [`${NC}is-encrypted`]: "0",
    });
    expect(id).toMatch(/^\d{8}[a-z][a-z0-9]+$/);
    expect(extra.get("/dav/p.jpg")?.get(`${OC}dDC`)?.status).toBe(404);
  });

  test("returns names only with propname, and further properties of allprop with include", async () => {
    const dav = await connectDav(await server().signUp());
    await dav.put("a.txt", "a");
    const names = await propfind(dav, "a.txt", `<propfind xmlns="DAV:"><propname/></propfind>`);
    const properties = names.get("/dav/a.txt") ?? new Map();
    expect([...properties.values()].every(({ text, status }) => text === "" && status === 200)).toBe(true);
    expect([...properties.keys()]).toContain(`${OC}fileid`);
    expect([...properties.keys()]).not.toContain("DAV:quota-used-bytes");
    const body = `<d:propfind ${NAMESPACES}><d:allprop/><d:include><oc:size/><d:getetag/><x:none/></d:include></d:propfind>`;
    const texts = textsOf(await propfind(dav, "a.txt", body), "/dav/a.txt");
    expect([texts[`${OC}size`], Object.keys(texts).length]).toEqual(["1", 10]);
  });

  test("shows what is used and free", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    await dav.put("a.txt", "12345");
    const quota = named("d:quota-used-bytes", "d:quota-available-bytes");
    const texts = textsOf(await propfind(dav, "", quota, "0"), "/dav/");
    expect(texts["DAV:quota-used-bytes"]).toBe("5");
    expect(Number(texts["DAV:quota-available-bytes"])).toBeGreaterThan(1_000_000);
  });

  test("writes every name so that it is read unchanged", async () => {
    const dav = await connectDav(await server().signUp());
    const names = ["<a>&amp;", "'q\" %41#?+;=", " lead and trail ", "ü 🦊", "]]>", "x".repeat(255), "\ufffe"];
    for (const name of names) expectStatus(await dav.put(encodeURIComponent(name), "a"), 201);
    const found = await propfind(dav, "", named("d:displayname"));
    const [, ...members] = [...found].map(([href, properties]) => [
      decodeURIComponent(href.slice("/dav/".length)),
      properties.get("DAV:displayname")?.text,
    ]);
    expect(members).toEqual(names.map((name) => [name, name === "\ufffe" ? "\ufffd" : name]));
  });

  test.each([
    ["no XML", "hello", 400],
    ["an open element", "<d:propfind xmlns:d='DAV:'>", 400],
    ["an undeclared prefix", "<d:propfind/>", 400],
    ["another element", "<a/>", 400],
    ["no element in it", '<propfind xmlns="DAV:"/>', 400],
    ["two questions at once", '<propfind xmlns="DAV:"><propname/><allprop/></propfind>', 400],
    ["a document type", `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>${named("d:getetag")}`, 400],
    ["300 properties", named(...Array.from({ length: 300 }, (_, i) => `x:n${i}`)), 400],
    ["more than 1 MiB", `<a>${" ".repeat(1024 * 1024)}</a>`, 413],
  ])("with %s is rejected", async (_what, body, status) => {
    const dav = await connectDav(await server().signUp());
    const response = await dav.request("PROPFIND", "", { body, headers: { depth: "0" } });
    expectStatus(response, status);
    expect(response.header("content-type")).toStartWith("application/xml");
  });

  test("with another depth, or of what does not exist, is rejected", async () => {
    const dav = await connectDav(await server().signUp());
    const infinity = await dav.request("PROPFIND", "", { headers: { depth: "infinity" } });
    expectStatus(infinity, 403);
    expect(infinity.text).toContain("<d:propfind-finite-depth/>");
    expectStatus(await dav.request("PROPFIND", "", { headers: { depth: "2" } }), 400);
    expectStatus(await dav.request("PROPFIND", "none"), 404);
    expectStatus(await dav.request("PROPFIND", "none/below"), 404);
  });

  test("of a folder with 1,000 members returns each once, though some are renamed while it runs", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    await dav.mkcol("many");
    for (let i = 0; i < 1_000; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, j) => dav.put(`many/f${i + j}.txt`, "")));
    }
    const listing = propfind(dav, "many", named("oc:fileid"));
    for (let i = 0; i < 40; i++) await dav.relocate("MOVE", `many/f${i}.txt`, `many/z${999 - i}.txt`);
    const ids = [...(await listing).values()].map((properties) => properties.get(`${OC}fileid`)?.text);
    expect([ids.length, new Set(ids).size]).toEqual([1_001, 1_001]);
  }, 60_000);
});

describe("the ETag of a folder", () => {
  const etagOf = async (dav: DavClient, path: string) => {
    const found = await propfind(dav, path, named("d:getetag"), "0");
    return [...found.values()][0]?.get("DAV:getetag")?.text;
  };

  test("changes with a change deep below, and not with changes elsewhere", async () => {
    const dav = await connectDav(await server().signUp());
    for (const path of ["a", "a/b", "other"]) await dav.mkcol(path);
    await dav.put("a/b/c.txt", "1");
    const before = [await etagOf(dav, ""), await etagOf(dav, "a/"), await etagOf(dav, "other/")];
    await dav.put("a/b/c.txt", "2");
    const after = [await etagOf(dav, ""), await etagOf(dav, "a/"), await etagOf(dav, "other/")];
    expect(after.map((etag, index) => etag === before[index])).toEqual([false, false, true]);
    expect(await etagOf(dav, "a/")).toBe(after[1] ?? "");
  });

  test("of the recipient changes with everything in a received share, and with its permission", async () => {
    const [owner, recipient] = [await server().signUp(), await server().signUp()];
    const [own, dav] = [await connectDav(owner), await connectDav(recipient)];
    const sharedId = await owner.client.folderId("shared");
    await own.mkcol("shared/sub");
    await own.put("shared/sub/a.txt", "1");
    const root = await etagOf(dav, "");
    const share = await shareWith(owner.client, sharedId, recipient);
    const etags = async () => [
      await etagOf(dav, ""),
      await etagOf(dav, "Shared%20with%20me/"),
      await etagOf(dav, "Shared%20with%20me/shared/sub/"),
    ];
    const shared = await etags();
    expect(shared[0]).not.toBe(root);
    const listed = await propfind(dav, "Shared%20with%20me/shared", named("oc:permissions", "oc:owner-display-name"));
    expect([...listed].map(([href, properties]) => [href, properties.get(`${OC}permissions`)?.text])).toEqual([
      ["/dav/Shared%20with%20me/shared/", "SG"],
      ["/dav/Shared%20with%20me/shared/sub/", "SG"],
    ]);
    await own.put("shared/sub/a.txt", "2");
    const changed = await etags();
    expect(changed.filter((etag, index) => etag === shared[index])).toEqual([]);
    expectStatus(await owner.client.patch(`/api/shares/${share}`, { permissions: "write" }), 200);
    const writable = await etags();
    expect(writable.filter((etag, index) => etag === changed[index])).toEqual([]);
    const body = named("oc:permissions");
    const permitted = await propfind(dav, "Shared%20with%20me/shared", body);
    expect([...permitted.values()].map((properties) => properties.get(`${OC}permissions`)?.text)).toEqual([
      "SGCK",
      "SGDNVCK",
    ]);
    const roots = await propfind(dav, "", body);
    expect([...roots].map(([href, properties]) => [href, properties.get(`${OC}permissions`)?.text])).toEqual([
      ["/dav/", "GCK"],
      ["/dav/Shared%20with%20me/", "G"],
    ]);
    expectStatus(await owner.client.delete(`/api/shares/${share}`), 200);
    expect(await etagOf(dav, "")).toBe(root ?? "");
    expectStatus(await dav.request("PROPFIND", "Shared%20with%20me/"), 404);
  });
});

test("a request names at most 256 properties, and 32 KiB of names, which the response repeats for each item", async () => {
  const dav = await connectDav(await server().signUp());
  const namesOf = (count: number, length: number) =>
    Array.from({ length: count }, (_, index) => `<x:${`p${index}`.padEnd(length, "x")}/>`).join("");
  const requests: [string, (names: string) => string][] = [
    ["PROPFIND", (names) => `<d:propfind ${NAMESPACES}><d:prop>${names}</d:prop></d:propfind>`],
    [
      "PROPPATCH",
      (names) => `<d:propertyupdate ${NAMESPACES}><d:set><d:prop>${names}</d:prop></d:set></d:propertyupdate>`,
    ],
  ];
  for (const [method, bodyOf] of requests) {
    const send = (names: string) => dav.request(method, "", { headers: { depth: "0" }, body: bodyOf(names) });
    expectStatus(await send(namesOf(256, 5)), 207);
    expectStatus(await send(namesOf(257, 5)), 400);
    expectStatus(await send(namesOf(60, 500)), 207);
    expectStatus(await send(namesOf(70, 500)), 400);
  }
});

describe("PROPPATCH", () => {
  const update = (content: string) => `<d:propertyupdate ${NAMESPACES}>${content}</d:propertyupdate>`;
  const set = (content: string) => `<d:set><d:prop>${content}</d:prop></d:set>`;
  const remove = (content: string) => `<d:remove><d:prop>${content}</d:prop></d:remove>`;

  async function proppatch(dav: DavClient, path: string, content: string): Promise<Record<string, number>> {
    const response = await dav.request("PROPPATCH", path, { body: update(content) });
    const [properties] = readMultistatus(response).values();
    return Object.fromEntries([...(properties ?? [])].map(([name, { status }]) => [name, status]));
  }

  async function read(dav: DavClient, path: string, ...names: string[]) {
    const [properties] = (await propfind(dav, path, named(...names), "0")).values();
    return Object.fromEntries(
      [...(properties ?? [])].map(([name, { status, text }]) => [name, status === 200 ? text : status]),
    );
  }

  test("stores properties with their XML, in order, and removes them", async () => {
    const dav = await connectDav(await server().signUp());
    await dav.put("a.txt", "a");
    const value = '<x:a d:at="1" xml:lang="de"><y xmlns="urn:y">t &amp; u</y><x:z/></x:a>';
    expect(
      await proppatch(dav, "a.txt", set(`${value}<x:b>1</x:b>`) + set("<x:b>2</x:b>") + remove("<x:none/>")),
    ).toEqual({
      "urn:xa": 200,
      "urn:xb": 200,
      "urn:xnone": 200,
    });
    const [found] = (await propfind(dav, "a.txt", named("x:a", "x:b", "x:c"), "0")).values();
    expect(found?.get("urn:xa")).toEqual({
      status: 200,
      text: "t & u",
      elements: ["urn:yy", "urn:xz"],
      attributes: { "d:at": "1", "xml:lang": "de" },
    });
    expect([found?.get("urn:xb")?.text, found?.get("urn:xc")?.status]).toEqual(["2", 404]);
    expect(textsOf(await propfind(dav, "a.txt"), "/dav/a.txt")["urn:xb"]).toBe("2");
    expect(await proppatch(dav, "a.txt", set("<x:b>3</x:b>") + remove("<x:b/><x:a/>"))).toEqual({
      "urn:xb": 200,
      "urn:xa": 200,
    });
    expect(await read(dav, "a.txt", "x:a", "x:b")).toEqual({ "urn:xa": 404, "urn:xb": 404 });
  });

  test("keeps the language that applies from outside, and properties without a namespace", async () => {
    const dav = await connectDav(await server().signUp());
    const body = `<propertyupdate xmlns="DAV:"><set><prop xml:lang="en"><n xmlns="">1</n></prop></set></propertyupdate>`;
    expectStatus(await dav.request("PROPPATCH", "", { body }), 207);
    const asking = '<propfind xmlns="DAV:"><prop><n xmlns=""/><m xmlns=""/></prop></propfind>';
    const [properties] = (await propfind(dav, "", asking, "0")).values();
    expect(properties?.get("n")).toEqual({ status: 200, text: "1", elements: [], attributes: { "xml:lang": "en" } });
    expect(properties?.get("m")?.status).toBe(404);
  });

  test("changes nothing if one of its properties can't be changed", async () => {
    const dav = await connectDav(await server().signUp());
    await dav.put("a.txt", "a");
    const content = `${set("<x:a>1</x:a><d:getetag>x</d:getetag><oc:fileid>1</oc:fileid>")}${remove("<d:resourcetype/>")}`;
    const response = await dav.request("PROPPATCH", "a.txt", { body: update(content) });
    const [properties] = readMultistatus(response).values();
    expect(Object.fromEntries([...(properties ?? [])].map(([name, { status }]) => [name, status]))).toEqual({
      "urn:xa": 424,
      "DAV:getetag": 403,
      "DAV:resourcetype": 403,
      [`${OC}fileid`]: 403,
    });
    expect(response.text).toContain("<d:error><d:cannot-modify-protected-property/></d:error>");
    expect(await read(dav, "a.txt", "x:a")).toEqual({ "urn:xa": 404 });
  });

  test.each([
    ["<d:getlastmodified>Sun, 13 Sep 2020 12:26:40 GMT</d:getlastmodified>"],
    ["<d:lastmodified>1600000000</d:lastmodified>"],
    ['<Win32LastModifiedTime xmlns="urn:schemas-microsoft-com:">Sun, 13 Sep 2020 12:26:40 GMT</Win32LastModifiedTime>'],
  ])("sets the own date of a file: %s", async (property) => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    const put = await dav.put("a.txt", "a");
    expect(Object.values(await proppatch(dav, "a.txt", set(property)))).toEqual([200]);
    expect(await read(dav, "a.txt", "d:getlastmodified", "d:getetag")).toEqual({
      "DAV:getlastmodified": "Sun, 13 Sep 2020 12:26:40 GMT",
      "DAV:getetag": put.header("etag") ?? "",
    });
  });

  test("accepts what Windows sends after an upload", async () => {
    const dav = await connectDav(await server().signUp());
    await dav.put("a.txt", "a");
    const times = ["Win32CreationTime", "Win32LastAccessTime", "Win32LastModifiedTime"]
      .map((name) => `<Z:${name}>Sun, 13 Sep 2020 12:26:40 GMT</Z:${name}>`)
      .join("");
    const body = `<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>${times}<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>`;
    const [properties] = readMultistatus(await dav.request("PROPPATCH", "a.txt", { body })).values();
    expect([...(properties ?? [])].map(([, { status }]) => status)).toEqual([200, 200, 200, 200]);
    expect(await read(dav, "a.txt", "d:getlastmodified")).toEqual({
      "DAV:getlastmodified": "Sun, 13 Sep 2020 12:26:40 GMT",
    });
    await dav.mkcol("f");
    const folder = await dav.request("PROPPATCH", "f", { body });
    expect([...(readMultistatus(folder).get("/dav/f/") ?? [])].map(([, { status }]) => status)).toEqual([
      200, 200, 200, 200,
    ]);
  });

  test("rejects a date that is none, and more than 64 KiB for one item", async () => {
    const dav = await connectDav(await server().signUp());
    await dav.put("a.txt", "a");
    expect(await proppatch(dav, "a.txt", set("<d:lastmodified>soon</d:lastmodified><x:a/>"))).toEqual({
      "DAV:lastmodified": 409,
      "urn:xa": 424,
    });
    expect(await proppatch(dav, "a.txt", set("<d:lastmodified>999999999999</d:lastmodified>"))).toEqual({
      "DAV:lastmodified": 409,
    });
    const large = "x".repeat(40_000);
    expect(await proppatch(dav, "a.txt", set(`<x:a>${large}</x:a>`))).toEqual({ "urn:xa": 200 });
    expect(await proppatch(dav, "a.txt", `${set(`<x:b>${large}</x:b>`)}${remove("<x:c/>")}`)).toEqual({
      "urn:xb": 507,
      "urn:xc": 424,
    });
    expect(await read(dav, "a.txt", "x:a", "x:b")).toEqual({ "urn:xa": large, "urn:xb": 404 });
  });

  test("lets a client choose the displayname", async () => {
    const dav = await connectDav(await server().signUp());
    await dav.put("a.txt", "a");
    expect(await read(dav, "a.txt", "d:displayname")).toEqual({ "DAV:displayname": "a.txt" });
    expect(await proppatch(dav, "a.txt", set("<d:displayname>Letter</d:displayname>"))).toEqual({
      "DAV:displayname": 200,
    });
    expect(await read(dav, "a.txt", "d:displayname")).toEqual({ "DAV:displayname": "Letter" });
    const all = await dav.request("PROPFIND", "a.txt", { headers: { depth: "0" } });
    expect(all.text.match(/displayname/g)).toHaveLength(2);
    await proppatch(dav, "a.txt", remove("<d:displayname/>"));
    expect(await read(dav, "a.txt", "d:displayname")).toEqual({ "DAV:displayname": "a.txt" });
  });

  test("stores properties that a move and a copy take along, and that change the ETag of the folder", async () => {
    const dav = await connectDav(await server().signUp());
    await dav.mkcol("f");
    await dav.put("f/a.txt", "a");
    const before = await read(dav, "", "d:getetag");
    await proppatch(dav, "f/a.txt", set("<x:a>1</x:a>"));
    expect(await read(dav, "", "d:getetag")).not.toEqual(before);
    expectStatus(await dav.relocate("MOVE", "f/a.txt", "b.txt"), 201);
    expectStatus(await dav.relocate("COPY", "b.txt", "c.txt"), 201);
    await proppatch(dav, "f", set("<x:a>1</x:a>"));
    expectStatus(await dav.relocate("COPY", "f", "g"), 201);
    expectStatus(await dav.relocate("COPY", "f", "h", { depth: "0" }), 201);
    for (const path of ["b.txt", "c.txt", "g", "h"]) expect(await read(dav, path, "x:a")).toEqual({ "urn:xa": "1" });
  });

  test("needs write access, and an item that exists", async () => {
    const [owner, recipient] = [await server().signUp(), await server().signUp()];
    const dav = await connectDav(owner);
    const id = await owner.client.folderId("shared");
    await shareWith(owner.client, id, recipient);
    const body = update(set("<x:a>1</x:a>"));
    expectStatus(await dav.request("PROPPATCH", "none", { body }), 404);
    const reading = await connectDav(owner, { access: "read" });
    expectStatus(await reading.request("PROPPATCH", "shared", { body }), 403);
    const other = await connectDav(recipient);
    expectStatus(await other.request("PROPPATCH", "Shared%20with%20me/shared", { body }), 403);
    expectStatus(await other.request("PROPPATCH", "Shared%20with%20me", { body }), 403);
    expectStatus(await other.request("PROPPATCH", "shared", { body }), 404);
    expect(await read(dav, "shared", "x:a")).toEqual({ "urn:xa": 404 });
  });

  test.each([
    ["no body", undefined],
    ["another element", "<a/>"],
    ["no property", '<propertyupdate xmlns="DAV:"><set><prop/></set></propertyupdate>'],
    ["a document type", "<!DOCTYPE a><a/>"],
  ])("with %s is rejected", async (_what, body) => {
    const dav = await connectDav(await server().signUp());
    expectStatus(await dav.request("PROPPATCH", "", body === undefined ? {} : { body }), 400);
  });
});

testAllResponses(server);
