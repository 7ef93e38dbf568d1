import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { shareWith } from "../support/account-shares.ts";
import { lock, tryLock, unlock } from "../support/dav-locks.ts";
import { clockFails, createMovableClock } from "../support/faults/preload.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { type Account, type ApiResponse, randomContent } from "../support/client.ts";
import { httpChunk, RawConnection, rawRequest } from "../support/raw-http.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { runLarder, sharedServer, withServer } from "../support/server.ts";
import { connectDav } from "../support/webdav.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } });

const roots = (email: string) => [
  "/dav/",
  "/remote.php/webdav/",
  `/remote.php/dav/files/${encodeURIComponent(email)}/`,
];

function etagOf(content: string): string {
  return `"${createHash("sha256").update(content).digest("hex")}"`;
}

describe("the three roots", () => {
  test("lead to the same tree", async () => {
    const account = await server().signUp();
    for (const root of roots(account.email)) {
      const dav = await connectDav(account, {}, root);
      expectStatus(await dav.put("note.txt", `by ${root}`), root === "/dav/" ? 201 : 204);
      const read = await dav.get("note.txt");
      expect(read.text).toBe(`by ${root}`);
      expect(read.header("etag")).toBe(etagOf(`by ${root}`));
      expect(read.header("cache-control")).toBe("private, no-cache");
    }
    expect(await account.client.names()).toEqual(["note.txt"]);
  });

  test("a folder is a page for browsers, with and without a slash at the end", async () => {
    const dav = await connectDav(await server().signUp());
    await dav.mkcol("f");
    await dav.put(`f/${encodeURIComponent("<script>&.txt")}`, "x");
    for (const path of ["f", "f/"]) {
      const page = await dav.get(path);
      expectStatus(page, 200);
      expect(page.header("content-type")).toBe("text/html; charset=utf-8");
      expect(page.header("content-security-policy")).toStartWith("default-src 'none'");
      expect(page.text).toContain("<li>&lt;script&gt;&amp;.txt</li>");
      expectStatus(await dav.request("HEAD", path), 200);
    }
    for (const method of ["POST", "PATCH"]) expectStatus(await dav.request(method, "f"), 405);
  });

  test("another account's tree is 404, and without an app password everything is 401", async () => {
    const [account, other] = [await server().signUp(), await server().signUp()];
    const foreign = await connectDav(account, {}, `/remote.php/dav/files/${encodeURIComponent(other.email)}/`);
    for (const method of ["GET", "PUT", "DELETE", "MKCOL"]) expectStatus(await foreign.request(method, "a.txt"), 404);
    const anonymous = await server().visitor.get("/dav/a.txt");
    expectStatus(anonymous, 401);
    expect(anonymous.header("www-authenticate")).toBe('Basic realm="Larder", charset="UTF-8"');
    expect(anonymous.header("content-type")).toStartWith("application/xml");
    expectStatus(await account.client.get("/dav/"), 401);
  });

  test("a changed email breaks no address", async () => {
    const account = await server().signUp();
    const root = `/remote.php/dav/files/${encodeURIComponent(account.email)}/`;
    const dav = await connectDav(account, {}, root);
    await dav.put("a.txt", "x");
    const change = { email: `new-${account.email}`, currentPassword: account.password };
    expectStatus(await account.client.put("/api/users/profile", change), 200);
    expect((await dav.get("a.txt")).text).toBe("x");
    const byId = await connectDav(account, {}, `/remote.php/dav/files/${account.id}/`);
    expect((await byId.get("a.txt")).text).toBe("x");
  });

  test("OPTIONS needs no sign-in, also at the root of the server", async () => {
    for (const path of ["/", "/dav/", "/dav/a/b", "/remote.php/webdav/"]) {
      const response = await server().visitor.request("OPTIONS", path);
      expectStatus(response, 200);
      expect(response.header("dav")).toBe("1, 2, 3");
      expect(response.header("ms-author-via")).toBe("DAV");
    }
    for (const method of ["GET", "HEAD", "PROPFIND"]) {
      const response = await server().visitor.request(method, "/.well-known/webdav");
      expectStatus(response, 301);
      expect(response.header("location")).toBe(`${server().url}/dav/`);
    }
    expectStatus(await server().visitor.get("/.well-known/caldav"), 404);
  });
});

describe("PUT", () => {
  test("stores a file with its own date, and a next version with the same id", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    const created = await dav.put("a.txt", "one", { "x-oc-mtime": "1600000000.25" });
    expectStatus(created, 201);
    expect(created.header("x-oc-mtime")).toBe("accepted");
    expect(created.header("etag")).toBe(etagOf("one"));
    expect(created.header("oc-etag")).toBe(etagOf("one"));
    const replaced = await dav.put("a.txt", "two");
    expectStatus(replaced, 204);
    expect(replaced.header("oc-fileid")).toBe(created.header("oc-fileid"));
    const [id = ""] = (await account.client.get("/api/files")).strings("data.files", "id");
    const versions = await account.client.get(`/api/files/${id}/versions`);
    expect(versions.list("data.versions")).toHaveLength(2);
    expect((await dav.get("a.txt")).text).toBe("two");
  });

  test("the same content again makes no version, and can change the date", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    await dav.put("a.txt", "same");
    expectStatus(await dav.put("a.txt", "same", { "x-oc-mtime": "1500000000" }), 204);
    const [id = ""] = (await account.client.get("/api/files")).strings("data.files", "id");
    expect((await account.client.get(`/api/files/${id}/versions`)).list("data.versions")).toHaveLength(1);
    expect((await dav.request("HEAD", "a.txt")).header("last-modified")).toBe("Fri, 14 Jul 2017 02:40:00 GMT");
  });

  test("dates that the desktop clients reject are shown as the nearest ones that they accept", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    for (const [seconds, shown] of [
      ["-5", "Thu, 01 Jan 1970 00:00:01 GMT"],
      ["0", "Thu, 01 Jan 1970 00:00:01 GMT"],
      ["4294967295", "Sun, 07 Feb 2106 06:28:14 GMT"],
      ["253402300799", "Sun, 07 Feb 2106 06:28:14 GMT"],
    ] as const) {
      await dav.put("dated.txt", "x", { "x-oc-mtime": seconds });
      expect((await dav.request("HEAD", "dated.txt")).header("last-modified")).toBe(shown);
      const listed = await dav.request("PROPFIND", "dated.txt", { headers: { depth: "0" } });
      expect(listed.text).toContain(`<d:getlastmodified>${shown}</d:getlastmodified>`);
      const [id = ""] = (await account.client.get("/api/files")).strings("data.files", "id");
      const file = await account.client.get(`/api/files/${id}`);
      expect(Date.parse(file.string("data.fileModifiedAt"))).toBe(Number(seconds) * 1000);
    }
  });

  test("programs that create the same file or folder at once all succeed, and no content is lost", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    const contents = Array.from({ length: 8 }, (_, index) => `content ${index}`);
    const put = await Promise.all(contents.map((content) => dav.put("a.txt", content)));
    expect(put.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array<number>(7).fill(204)]);
    const [id = ""] = (await account.client.get("/api/files")).strings("data.files", "id");
    expect((await account.client.get(`/api/files/${id}/versions`)).list("data.versions")).toHaveLength(8);
    const created = await Promise.all(contents.map((content) => dav.put("b.txt", content, { "if-none-match": "*" })));
    expect(created.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array<number>(7).fill(412)]);
    const made = await Promise.all(contents.map(() => dav.mkcol("f")));
    expect(made.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array<number>(7).fill(405)]);
  });

  test("conditions decide: If-Match, If-None-Match", async () => {
    const dav = await connectDav(await server().signUp());
    expectStatus(await dav.put("a.txt", "x", { "if-match": '"none"' }), 412);
    expectStatus(await dav.put("a.txt", "x", { "if-none-match": "JoplinIgnore-123" }), 201);
    expectStatus(await dav.put("a.txt", "y", { "if-none-match": "*" }), 412);
    expectStatus(await dav.put("a.txt", "y", { "if-match": etagOf("x") }), 204);
    expectStatus(await dav.put("a.txt", "z", { "if-match": etagOf("x") }), 412);
    expect((await dav.get("a.txt")).text).toBe("y");
  });

  test("rejects what can't be stored, and stores nothing of it", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    expectStatus(await dav.put("missing/a.txt", "x"), 409);
    await dav.mkcol("folder");
    expectStatus(await dav.put("folder", "x"), 405);
    expectStatus(await dav.put("a%2Fb.txt", "x"), 400);
    expectStatus(await dav.put("a%00.txt", "x"), 400);
    expectStatus(await dav.put("a%zz.txt", "x"), 400);
    expectStatus(await dav.put("n".repeat(256), "x"), 400);
    for (const wrong of [
      `SHA256:${"0".repeat(64)}`,
      `SHA1:${"0".repeat(40)}`,
      `MD5:${"0".repeat(32)}`,
      "ADLER32:1",
      "x",
    ]) {
      expectStatus(await dav.put("a.txt", "x", { "oc-checksum": wrong }), 400);
    }
    expectStatus(await dav.get("a.txt"), 404);
    // Programs can't read dates after the year 9999.
    for (const date of ["yesterday", "999999999999", "-999999999999"]) {
      expectStatus(await dav.put("a.txt", "x", { "x-oc-mtime": date }), 400);
    }
    expectStatus(await dav.put("a.txt", "x", { "content-range": "bytes 0-0/2" }), 400);
    expectStatus(await dav.put("a.txt-chunking-77-2-0", "x", { "oc-chunked": "1" }), 501);
    expect(await account.client.names()).toEqual(["folder"]);
    const right = "SHA1:11f6ad8ec52a2984abaafd7c3b516503785c2072 ADLER32:00790079";
    expectStatus(await dav.put("a.txt", "x", { "oc-checksum": right }), 201);
    expectStatus(await dav.put("a.txt", "x", { "oc-checksum": "MD5:9dd4e461268c8034f5c8564e155c67a6" }), 204);
  });

  test("stores nothing of a body that is cut off or exceeds the quota", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    await dav.put("a.txt", "old");
    const begin = async (path: string, header: string): Promise<RawConnection> => {
      const connection = await RawConnection.open(server().port);
      const head = [`PUT /dav/${path} HTTP/1.1`, "Host: larder.test", `Authorization: ${dav.authorization}`, header];
      await connection.write(rawRequest(head));
      return connection;
    };
    const incoming = () => readdir(join(server().dataDir, "blobs/incoming"));
    for (const path of ["a.txt", "new.txt"]) {
      for (const header of ["Content-Length: 9000000", "Transfer-Encoding: chunked"]) {
        const connection = await begin(path, header);
        await connection.write(httpChunk(randomContent(4_000_000)));
        await eventually("the body arrives", async () => (await incoming()).length === 1);
        connection.cut();
        await eventually("it is discarded", async () => (await incoming()).length === 0);
      }
    }
    await dav.mkcol("f");
    await dav.put("f/b.txt", "x".repeat(60_000));
    await server().change(account.id, { quota: 100_000 });
    const declared = await begin("new.txt", "Content-Length: 200000");
    expectStatus(await declared.response(), 507);
    declared.cut();
    const chunked = await begin("new.txt", "Transfer-Encoding: chunked");
    await chunked.write(httpChunk(randomContent(200_000)));
    expectStatus(await chunked.response(), 507);
    chunked.cut();
    expectStatus(await dav.relocate("COPY", "f", "g"), 507);
    expectStatus(await dav.relocate("COPY", "f/b.txt", "a.txt"), 507);
    // A temporary file that moves onto another one needs no room of its own.
    expectStatus(await dav.put("f/temporary.txt", "y".repeat(30_000)), 201);
    expectStatus(await dav.relocate("MOVE", "f/temporary.txt", "f/b.txt"), 204);
    expect(await account.client.names()).toEqual(["f", "a.txt"]);
    expect((await dav.get("a.txt")).text).toBe("old");
    expect((await account.client.get("/api/users/usage")).number("data.storage.used")).toBe(90_003);
  });

  test("keeps hostile names", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    const names = ["50% #1?.txt", "a+b & 'c' \"d\".txt", " leading", "trailing ", "😀.png", "ä".repeat(127)];
    for (const name of names) expectStatus(await dav.put(encodeURIComponent(name), name), 201);
    for (const name of names) expect((await dav.get(encodeURIComponent(name))).text).toBe(name);
    expect((await account.client.names()).toSorted()).toEqual(names.toSorted());
  });
});

describe("Unicode forms", () => {
  const composed = encodeURIComponent("Müller.txt".normalize("NFC"));
  const decomposed = encodeURIComponent("Müller.txt".normalize("NFD"));

  test("a file is found by either form, and replaced in another form only by who knows it", async () => {
    const dav = await connectDav(await server().signUp());
    await dav.put(composed, "one");
    expect((await dav.get(decomposed)).text).toBe("one");
    expectStatus(await dav.put(decomposed, "two"), 409);
    expectStatus(await dav.put(decomposed, "two", { if: "(Not <DAV:no-lock>)" }), 409);
    expectStatus(await dav.put(decomposed, "two", { if: '(Not ["other"])' }), 409);
    expect((await dav.get(composed)).text).toBe("one");
    expectStatus(await dav.put(decomposed, "zero", { if: `([${etagOf("one")}])` }), 204);
    const token = await lock(dav, composed);
    expectStatus(await dav.put(decomposed, "one", { if: `(<${token}>)` }), 204);
    expectStatus(await unlock(dav, composed, token), 204);
    expectStatus(await dav.put(decomposed, "two", { "if-match": etagOf("one") }), 204);
    expectStatus(await dav.put(decomposed, "three", { "user-agent": "WebDAVFS/3.0.0 (03008000) Darwin/23.0" }), 204);
    await dav.put("other.txt", "x");
    expectStatus(await dav.relocate("MOVE", "other.txt", decomposed), 409);
    expectStatus(await dav.relocate("COPY", "other.txt", decomposed), 409);
    expect((await dav.get(composed)).text).toBe("three");
    const known = { if: `</dav/${composed}> ([${etagOf("three")}])` };
    expectStatus(await dav.relocate("COPY", "other.txt", decomposed, known), 204);
    expect((await dav.get(composed)).text).toBe("x");
  });
});

describe("MKCOL and DELETE", () => {
  test("make a folder, and move it to the trash", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    expectStatus(await dav.mkcol("a"), 201);
    expectStatus(await dav.mkcol("a/"), 405);
    expectStatus(await dav.mkcol("b/c"), 409);
    expectStatus(await dav.request("MKCOL", "d", { body: "<x/>" }), 415);
    await dav.put("a/file.txt", "x");
    expectStatus(await dav.request("DELETE", "a"), 204);
    expectStatus(await dav.get("a/file.txt"), 404);
    expect((await account.client.get("/api/files/trash")).strings("data.files", "name")).toEqual(["a"]);
    expectStatus(await dav.request("DELETE", "a"), 404);
    expectStatus(await dav.request("DELETE", ""), 403);
  });
});

test("DELETE with If-Match never removes what another program has just stored", async () => {
  const account = await server().signUp();
  const dav = await connectDav(account);
  for (let round = 0; round < 20; round++) {
    const path = `${round}.txt`;
    await dav.put(path, "old");
    const [removed, stored] = await Promise.all([
      dav.request("DELETE", path, { headers: { "if-match": etagOf("old") } }),
      dav.put(path, "new"),
    ]);
    // Either the file was deleted and created again, or it was changed and stays.
    expect(["204 201", "412 204", "204 409"]).toContain(`${removed.status} ${stored.status}`);
    const isThere = (await dav.get(path)).status === 200;
    expect(isThere).toBe(stored.status !== 409);
  }
});

describe("MOVE and COPY", () => {
  test("a rename keeps the id and the ETag", async () => {
    const dav = await connectDav(await server().signUp());
    const made = await dav.put("a.txt", "x");
    await dav.mkcol("folder");
    const moved = await dav.relocate("MOVE", "a.txt", "folder/b.txt");
    expectStatus(moved, 201);
    expect(moved.header("oc-fileid")).toBe(made.header("oc-fileid"));
    expect((await dav.get("folder/b.txt")).header("etag")).toBe(made.header("etag"));
    expectStatus(await dav.get("a.txt"), 404);
  });

  test("a temporary file that moves onto a file becomes its next version", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    const made = await dav.put("report.odt", "one");
    const [id = ""] = (await account.client.get("/api/files")).strings("data.files", "id");
    await account.client.put(`/api/files/${id}`, { tags: ["work"] });
    await dav.put("report.odt.tmp", "two");
    const moved = await dav.relocate("MOVE", "report.odt.tmp", "report.odt");
    expectStatus(moved, 204);
    expect(moved.header("oc-fileid")).toBe(made.header("oc-fileid"));
    const info = await account.client.get(`/api/files/${id}`);
    expect(info.at("data.tags")).toEqual(["work"]);
    expect((await account.client.get(`/api/files/${id}/versions`)).list("data.versions")).toHaveLength(2);
    expect((await dav.get("report.odt")).text).toBe("two");
    expect(await account.client.names()).toEqual(["report.odt"]);
    expect((await account.client.get("/api/files/trash")).list("data.files")).toEqual([]);
  });

  test("a file gets the media type of its new name, as if it had been uploaded with it", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    const typeOf = async (path: string) => (await dav.request("HEAD", path)).header("content-type");
    await dav.put("a.txt", "one");
    await dav.put("a.tmp", "two");
    expect(await typeOf("a.tmp")).toBe("application/octet-stream");
    expectStatus(await dav.relocate("MOVE", "a.tmp", "a.txt"), 204);
    await dav.put("b.tmp", "three");
    expectStatus(await dav.relocate("COPY", "b.tmp", "c.md"), 201);
    expectStatus(await dav.relocate("MOVE", "b.tmp", "b.txt"), 201);
    expect([await typeOf("a.txt"), await typeOf("b.txt"), await typeOf("c.md")]).toEqual([
      "text/plain",
      "text/plain",
      "text/markdown",
    ]);
    const totals = (await account.client.get("/api/users/usage")).json;
    expect(JSON.stringify(totals)).not.toContain("application/octet-stream");
  });

  test("Overwrite, itself, below itself, and other servers", async () => {
    const dav = await connectDav(await server().signUp());
    await dav.put("a.txt", "a");
    await dav.put("b.txt", "b");
    await dav.mkcol("f");
    await dav.mkcol("f/g");
    for (const method of ["MOVE", "COPY"] as const) {
      expectStatus(await dav.relocate(method, "a.txt", "b.txt", { overwrite: "F" }), 412);
      expectStatus(await dav.relocate(method, "a.txt", "a.txt"), 403);
      expectStatus(await dav.relocate(method, "f", "f/g/h"), 403);
      expectStatus(await dav.relocate(method, "f/g", "f"), 403);
      expectStatus(await dav.relocate(method, "a.txt", "missing/a.txt"), 409);
      expectStatus(await dav.relocate(method, "none.txt", "c.txt"), 404);
      expectStatus(await dav.request(method, "a.txt", { headers: { destination: "http://example.org/dav/c" } }), 502);
      expectStatus(await dav.request(method, "a.txt", { headers: { destination: "/dav/x%2Fy" } }), 400);
      expectStatus(await dav.request(method, "a.txt", { headers: { destination: "/dav/../c" } }), 400);
      expectStatus(await dav.request(method, "a.txt"), 400);
    }
    expect((await dav.get("b.txt")).text).toBe("b");
  });

  test("a folder replaces what is at its destination, which goes to the trash", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    await dav.mkcol("f");
    await dav.put("f/a.txt", "a");
    await dav.mkcol("g");
    await dav.put("g/old.txt", "old");
    expectStatus(await dav.relocate("COPY", "f", "g"), 204);
    expect(await account.client.names("/g")).toEqual(["a.txt"]);
    expectStatus(await dav.relocate("COPY", "f", "h", { depth: "0" }), 201);
    expect(await account.client.names("/h")).toEqual([]);
    expectStatus(await dav.relocate("MOVE", "g", "h"), 204);
    expect(await account.client.names("/h")).toEqual(["a.txt"]);
    expect((await account.client.get("/api/files/trash")).list("data.files")).toHaveLength(2);
  });
});

test("a condition on a folder's ETag fails after a change below it that no listing has shown", async () => {
  const dav = await connectDav(await server().signUp());
  const body = '<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>';
  const update = '<propertyupdate xmlns="DAV:"><set><prop><p xmlns="urn:p">1</p></prop></set></propertyupdate>';
  const changes: [string, (headers: Record<string, string>) => Promise<ApiResponse>][] = [
    ["DELETE", (headers) => dav.request("DELETE", "f", { headers })],
    ["MOVE", (headers) => dav.relocate("MOVE", "f", "g", headers)],
    ["COPY", (headers) => dav.relocate("COPY", "f", "h", headers)],
    ["PROPPATCH", (headers) => dav.request("PROPPATCH", "f", { headers, body: update })],
  ];
  await dav.mkcol("f");
  await dav.mkcol("f/sub");
  for (const [method, change] of changes) {
    const listed = await dav.request("PROPFIND", "f", { headers: { depth: "0" }, body });
    const etag = /<d:getetag>(.+)<\/d:getetag>/.exec(listed.text)?.[1] ?? "";
    await dav.put("f/sub/new.txt", `before ${method}`);
    expectStatus(await change({ "if-match": etag }), 412);
    expectStatus(await change({ if: `([${etag}])` }), 412);
  }
  expect((await dav.get("f/sub/new.txt")).text).toBe("before PROPPATCH");
});

describe("what an app password may do", () => {
  test("a read-only one changes nothing", async () => {
    const account = await server().signUp();
    await account.client.storedId("x", { name: "a.txt" });
    const dav = await connectDav(account, { access: "read" });
    expect((await dav.get("a.txt")).text).toBe("x");
    expectStatus(await dav.put("a.txt", "y"), 403);
    expectStatus(await dav.put("b.txt", "y"), 403);
    expectStatus(await dav.mkcol("f"), 403);
    expectStatus(await dav.request("DELETE", "a.txt"), 403);
    expectStatus(await dav.relocate("MOVE", "a.txt", "b.txt"), 403);
    expectStatus(await dav.relocate("COPY", "a.txt", "b.txt"), 403);
    expect(await account.client.names()).toEqual(["a.txt"]);
  });

  test("one of an account that became a viewer changes nothing", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    await dav.put("a.txt", "x");
    const demoted = await runLarder(["user", "set", account.email, "--role", "viewer", "--data", server().dataDir]);
    expect(demoted.code).toBe(0);
    await eventually("the new role", async () => (await dav.put("b.txt", "y")).status === 403);
    expectStatus(await dav.request("DELETE", "a.txt"), 403);
    expectStatus(await dav.mkcol("f"), 403);
    expectStatus(await dav.relocate("MOVE", "a.txt", "b.txt"), 403);
    expect((await dav.get("a.txt")).text).toBe("x");
  });

  test("one for a folder sees nothing else, also after the folder was renamed", async () => {
    const account = await server().signUp();
    await account.client.storedId("secret", { name: "outside.txt" });
    await account.client.storedId("x", { name: "in.txt", fields: { folder: "/only" } });
    const dav = await connectDav(account, { folder: "/only" });
    expect((await dav.get("in.txt")).text).toBe("x");
    expectStatus(await dav.get("outside.txt"), 404);
    expectStatus(await dav.put("new.txt", "y"), 201);
    const [id = ""] = (await account.client.get("/api/files?type=folder")).strings("data.files", "id");
    await account.client.put(`/api/files/folders/${id}`, { name: "renamed" });
    expect((await dav.get("new.txt")).text).toBe("y");
  });
});

describe("Shared with me", () => {
  test("shows received shares with the permissions of their owner", async () => {
    const [owner, account] = [await server().signUp(), await server().signUp()];
    await owner.client.storedId("read", { name: "r.txt", fields: { folder: "/reading" } });
    await owner.client.storedId("write", { name: "w.txt", fields: { folder: "/writing" } });
    const file = await owner.client.storedId("one", { name: "single.txt" });
    const folders = await owner.client.get("/api/files?type=folder");
    const [reading = "", writing = ""] = folders.strings("data.files", "id");
    await shareWith(owner.client, reading, account);
    await shareWith(owner.client, writing, account, { permissions: "write" });
    await shareWith(owner.client, file, account, { permissions: "write" });
    const dav = await connectDav(account);
    const at = "Shared%20with%20me";
    expect((await dav.get(`${at}/reading/r.txt`)).text).toBe("read");
    expect((await dav.get("")).text).toContain("<li>Shared with me/</li>");
    for (const shown of ["reading/", "single.txt"]) expect((await dav.get(at)).text).toContain(`<li>${shown}</li>`);
    expectStatus(await dav.put(`${at}/reading/r.txt`, "no"), 403);
    expectStatus(await dav.put(`${at}/writing/w.txt`, "changed"), 204);
    expectStatus(await dav.put(`${at}/writing/new.txt`, "new"), 201);
    expectStatus(await dav.put(`${at}/single.txt`, "two"), 204);
    expectStatus(await dav.put(`${at}/free.txt`, "x"), 403);
    expectStatus(await dav.mkcol(`${at}/writing/sub`), 201);
    expect((await owner.client.names("/writing")).toSorted()).toEqual(["new.txt", "sub", "w.txt"]);
    for (const path of [at, `${at}/writing`, `${at}/single.txt`]) {
      expectStatus(await dav.request("DELETE", path), 403);
      expectStatus(await dav.relocate("MOVE", path, "mine"), 403);
    }
    expectStatus(await dav.relocate("MOVE", `${at}/writing/new.txt`, "mine.txt"), 201);
    expect((await dav.get("mine.txt")).text).toBe("new");
    expect((await owner.client.get("/api/files/trash")).strings("data.files", "name")).toEqual(["new.txt"]);
  });

  test("has another name where the account has a folder of that name", async () => {
    const [owner, account] = [await server().signUp(), await server().signUp()];
    const file = await owner.client.storedId("x", { name: "a.txt" });
    await shareWith(owner.client, file, account);
    await account.client.folderId("Shared with me");
    const dav = await connectDav(account);
    expectStatus(await dav.get("Shared%20with%20me/a.txt"), 404);
    expect((await dav.get("Shared%20with%20me%20(2)/a.txt")).text).toBe("x");
  });
});

describe("settings", () => {
  test("files that macOS adds can be refused", async () => {
    await withServer({ env: { LARDER_MACOS_FILES: "refuse" } }, async (other) => {
      const dav = await connectDav(await other.signUp());
      expectStatus(await dav.put("._a.txt", "x"), 403);
      expectStatus(await dav.put(".DS_Store", "x"), 403);
      expectStatus(await tryLock(dav, "._a.txt"), 403);
      expectStatus(await dav.put(".profile", "x"), 201);
    });
    const dav = await connectDav(await server().signUp());
    expectStatus(await dav.put("._a.txt", "x"), 201);
  });

  test("a base path stands in front of every address", async () => {
    await withServer({ env: { LARDER_BASE_PATH: "/files" } }, async (other) => {
      const dav = await connectDav(await other.signUp(), {}, "/files/dav/");
      await dav.put("a.txt", "x");
      expectStatus(await dav.relocate("MOVE", "a.txt", "b.txt"), 201);
      expect((await dav.get("b.txt")).text).toBe("x");
      const found = await other.visitor.get("/files/.well-known/webdav");
      expect(found.header("location")).toBe(`${other.url}/files/dav/`);
    });
  });

  test("browsers of other origins may call only where the setting names them", async () => {
    const origin = "app://obsidian.md";
    const preflight = { origin, "access-control-request-method": "PROPFIND" };
    const closed = await server().visitor.request("OPTIONS", "/dav/", { headers: preflight });
    expect(closed.headers.has("access-control-allow-origin")).toBe(false);
    await withServer({ env: { LARDER_CORS_ORIGINS: origin } }, async (other) => {
      const open = await other.visitor.request("OPTIONS", "/dav/", { headers: preflight });
      expect(open.header("access-control-allow-origin")).toBe(origin);
      expect(open.header("access-control-allow-methods")).toContain("PROPFIND");
      expect(open.header("access-control-allow-headers")).toContain("Destination");
    });
  });
});

test.skipIf(clockFails !== undefined)("too many replacements and deletions wait for a person", async () => {
  const clock = await createMovableClock();
  const env = { LARDER_MASS_CHANGE_FILES: "3", LARDER_MASS_CHANGE_PERCENT: "10", ...clock.env };
  await withServer({ env }, async (other) => {
    const account = await other.signUp();
    const dav = await connectDav(account);
    await dav.mkcol("folder");
    for (let at = 0; at < 6; at++) await dav.put(`f${at}.txt`, `content ${at}`);
    for (let at = 0; at < 4; at++) await dav.put(`folder/${at}.txt`, `content ${at}`);
    // What changes nothing does not count.
    const token = await lock(dav, "folder/0.txt");
    for (let at = 0; at < 4; at++) {
      expectStatus(await dav.put("f0.txt", "content 0"), 204);
      expectStatus(await dav.request("DELETE", "folder/0.txt"), 423);
      expectStatus(await dav.relocate("MOVE", "f1.txt", "folder/0.txt"), 423);
      expectStatus(await dav.relocate("MOVE", "folder/0.txt", "f1.txt"), 423);
    }
    expectStatus(await unlock(dav, "folder/0.txt", token), 204);
    // An editor that saves every two seconds replaces one file.
    for (let at = 0; at < 6; at++) {
      await clock.set(at * 2);
      expectStatus(await dav.put("f0.txt", `changed ${at}`), 204);
    }
    expectStatus(await dav.relocate("MOVE", "f1.txt", "f0.txt"), 204);
    expectStatus(await dav.request("DELETE", "f0.txt"), 204);
    const stopped = await dav.request("DELETE", "f2.txt");
    expectStatus(stopped, 403);
    expect(stopped.text).toContain(`${other.url}/settings/devices`);
    expectStatus(await dav.put("f2.txt", "changed"), 403);
    expectStatus(await dav.relocate("MOVE", "f3.txt", "f2.txt"), 403);
    expectStatus(await dav.put("new.txt", "x"), 201);
    expectStatus(await dav.relocate("MOVE", "f3.txt", "renamed.txt"), 201);
    const [holdId = ""] = (await account.client.get("/api/users/holds")).strings("data.holds", "holdId");
    expectStatus(await account.client.post(`/api/users/holds/${holdId}`, { accept: true }), 200);
    expectStatus(await dav.request("DELETE", "f2.txt"), 204);
    expectStatus(await dav.put("f4.txt", "changed"), 204);

    // macOS locks a new name before it sends the file, which replaces nothing but the empty content of the lock.
    const finder = await connectDav(account);
    for (let at = 0; at < 5; at++) {
      const locked = await tryLock(finder, `new${at}.txt`);
      expectStatus(locked, 201);
      const token = locked.header("lock-token").slice(1, -1);
      expectStatus(await finder.put(`new${at}.txt`, `new ${at}`, { if: `(<${token}>)` }), 204);
      expectStatus(await unlock(finder, `new${at}.txt`, token), 204);
    }
    // Such a file can be the temporary one of an editor, too, which must not fill the trash.
    const trashed = (await account.client.get("/api/files/trash")).strings("data.files", "name");
    expectStatus(await finder.relocate("MOVE", "new1.txt", "new0.txt"), 204);
    expect((await account.client.get("/api/files/trash")).strings("data.files", "name")).toEqual(trashed);

    const hasty = await connectDav(account);
    for (let at = 0; at < 3; at++) expectStatus(await hasty.put("f5.txt", `at once ${at}`), 204);
    expectStatus(await hasty.put("f5.txt", "at once 3"), 403);
  });
});

// A folder with more than 10,000 folders in it counted as empty, and a locked file stopped its program for good.
test("deletions count at any depth, but neither what fails nor what changes nothing", async () => {
  const env = { LARDER_MASS_CHANGE_FILES: "3", LARDER_MASS_CHANGE_PERCENT: "10", LARDER_RATE_LIMITS: "off" };
  await withServer({ env }, async (other) => {
    const account = await other.signUp();
    const dav = await connectDav(account);
    for (const path of ["busy", "wide", "wide/first"]) await dav.mkcol(path);
    await dav.put("busy/a.txt", "a");
    await lock(dav, "busy/a.txt");
    await dav.put("same.txt", "same");
    for (let at = 0; at < 5; at++) {
      expectStatus(await dav.request("DELETE", "busy"), 423);
      expectStatus(await dav.put("same.txt", "same"), 204);
    }
    for (let at = 0; at < 100; at++) await dav.mkcol(`wide/first/f${at}`);
    for (let at = 0; at < 100; at++) expectStatus(await dav.relocate("COPY", "wide/first", `wide/g${at}`), 201);
    for (let at = 0; at < 4; at++) expectStatus(await dav.put(`wide/first/${at}.txt`, "x"), 201);
    expectStatus(await dav.request("DELETE", "wide"), 403);
    await dav.mkcol("empty");
    expectStatus(await dav.relocate("MOVE", "empty", "wide"), 403);
    expectStatus(await dav.relocate("COPY", "empty", "wide"), 403);
    expectStatus(await dav.get("wide/first/3.txt"), 200);
  });
});

test("over the limit of requests, programs are asked to come back later", async () => {
  const env = { LARDER_PLANS_ENTERPRISE_LIMIT_DAV: "3", LARDER_PLANS_FREE_LIMIT_DAV: "1" };
  await withServer({ env: { LARDER_RATE_LIMITS: "on", ...env } }, async (other) => {
    const dav = await connectDav(await other.signUp());
    // Requests without an app password are not counted: some programs send each request so first.
    for (let at = 0; at < 3; at++) expectStatus(await other.visitor.request("PROPFIND", "/dav/"), 401);
    for (const name of ["a", "b", "c"]) expectStatus(await dav.put(name, "x"), 201);
    const rejected = await dav.put("d", "x");
    expectStatus(rejected, 503);
    expect(Number(rejected.header("retry-after"))).toBeGreaterThan(0);
    expect(rejected.text).toContain("Sabre\\DAV\\Exception\\ServiceUnavailable");
    // The ownCloud client asks for each file that it has stored, and hung if this was rejected. It may ask a little more.
    const ask = (userAgent: string, depth = "0") =>
      dav.request("PROPFIND", "a", { headers: { depth, "user-agent": userAgent } });
    const ownCloud = "Mozilla/5.0 (Linux) mirall/2.11.0 (ownCloud, debian)";
    expectStatus(await ask("Mozilla/5.0 (Linux) mirall/3.7.3 (Nextcloud, debian)"), 503);
    expectStatus(await ask(ownCloud, "1"), 503);
    for (let count = 0; count < 20; count += 1) {
      const response = await ask(ownCloud);
      expectStatus(response, 207);
      expect(response.header("x-ratelimit-limit")).toBe("3");
      expect(response.header("x-ratelimit-remaining")).toBe("0");
    }
    expectStatus(await ask(ownCloud), 503);
    expectStatus(await dav.put("e", "x"), 503);
  });
});

test("the audit log names each item by its id, and the account whose item it is", async () => {
  await withServer({ env: { LARDER_AUDIT_FILES: "all" } }, async (other) => {
    const [owner, account] = [await other.signUp(), await other.signUp()];
    const shared = await owner.client.storedId("x", { name: "shared.txt" });
    await shareWith(owner.client, shared, account, { permissions: "write" });
    const dav = await connectDav(account);
    await dav.put("a.txt", "x");
    const [id = ""] = (await account.client.get("/api/files?type=file")).strings("data.files", "id");
    await dav.get("a.txt");
    await dav.relocate("MOVE", "a.txt", "b.txt");
    for (const property of ["getlastmodified", "getetag"]) {
      const prop = `<prop><${property}>Sun, 13 Sep 2020 12:26:40 GMT</${property}></prop>`;
      const body = `<propertyupdate xmlns="DAV:"><set>${prop}</set></propertyupdate>`;
      expectStatus(await dav.request("PROPPATCH", "b.txt", { body }), 207);
    }
    await dav.request("DELETE", "b.txt");
    await dav.put("Shared%20with%20me/shared.txt", "y");
    const existing = await owner.client.folderId("existing");
    const ownerDav = await connectDav(owner);
    expectStatus(await tryLock(ownerDav, "existing"), 200);
    expectStatus(await tryLock(ownerDav, "locked.txt"), 201);
    const [locked = ""] = (await owner.client.get("/api/files?search=locked.txt")).strings("data.files", "id");
    const admin = await other.addUser(["--admin"]);
    await eventually("the entries", async () => {
      const page = await admin.client.get(`/api/admin/audit?user=${account.id}&limit=100`);
      const entries = page.list("data.entries").map((entry) => JSON.stringify(entry));
      const named = (action: string, target: string) =>
        entries.some((entry) => entry.includes(`"action":"${action}"`) && entry.includes(target));
      const actions = ["file.upload", "file.download", "file.move", "file.change", "file.trash"];
      const own = actions.every((action) => named(action, id));
      return own && named("file.upload", shared) && entries.some((entry) => entry.includes(owner.id));
    });
    let log = "";
    await eventually("the entry of the lock", async () => {
      log = (await admin.client.get("/api/admin/audit?limit=100")).text;
      return log.includes(locked);
    });
    expect(log).not.toContain("shared.txt");
    // The rejected change of a property is none.
    expect(log.split('"file.change"')).toHaveLength(2);
    // Of two locks, only that of a free name is audited, as the upload of an empty file.
    expect(log.split(locked)).toHaveLength(2);
    expect(log.split(existing)).toHaveLength(2);
  });
});

test("a copy of a large folder replaces its destination only when it is complete, and a move goes to another account", async () => {
  const [account, owner] = [await server().signUp(), await server().signUp()];
  const dav = await connectDav(account);
  await dav.mkcol("large");
  await dav.mkcol("target");
  await dav.put("target/old.txt", "old");
  const names = Array.from({ length: 410 }, (_, index) => `f${index}.txt`);
  await Promise.all(names.map((name) => dav.put(`large/${name}`, "x")));
  expectStatus(await dav.relocate("COPY", "large", "target"), 204);
  expect((await account.client.get("/api/files?folder=/target&limit=1")).number("data.pagination.total")).toBe(410);
  expect((await account.client.get("/api/files/trash")).strings("data.files", "name")).toEqual(["target"]);
  expectStatus(await dav.relocate("COPY", "large", "target", { overwrite: "F" }), 412);

  await shareWith(owner.client, await owner.client.folderId("shared"), account, { permissions: "write" });
  const filesIn = async ({ client }: Account, folder: string) =>
    (await client.get(`/api/files?folder=${folder}&limit=1`)).number("data.pagination.total");
  // Each change of the account during the move may be missing in the copy. The move fails then, and can be repeated.
  const there = "Shared%20with%20me/shared/moved";
  const [moved] = await Promise.all([dav.relocate("MOVE", "large", there), dav.put("large/late.txt", "late")]);
  if (moved.status === 409) {
    expect(await filesIn(account, "/large")).toBe(411);
    expectStatus(await dav.get(there), 404);
    expectStatus(await dav.relocate("MOVE", "large", there), 201);
  } else expectStatus(moved, 201);
  expectStatus(await dav.get("large"), 404);
  const trash = await account.client.get("/api/files/trash");
  expect(trash.strings("data.files", "name").toSorted()).toEqual(["large", "target"]);
  const files = await filesIn(owner, "/shared/moved");
  expect([410, 411]).toContain(files);
  const token = await lock(dav, `${there}/f1.txt`);
  expectStatus(await dav.relocate("MOVE", there, "back"), 423);
  expectStatus(await dav.get("back"), 404);
  expectStatus(await unlock(dav, `${there}/f1.txt`, token), 204);
  expectStatus(await dav.relocate("MOVE", there, "back"), 201);
  expect(await filesIn(account, "/back")).toBe(files);
  expect((await owner.client.get("/api/files/trash")).strings("data.files", "name")).toEqual(["moved"]);
});

test("a large copy is not attached outside a share whose folder was moved in the meantime", async () => {
  const [owner, guest] = [await server().signUp(), await server().signUp()];
  const id = await owner.client.folderId("shared");
  await shareWith(owner.client, id, guest, { permissions: "write" });
  const [dav, ownerDav] = [await connectDav(guest), await connectDav(owner)];
  await ownerDav.mkcol("other");
  for (const path of ["small", "large"]) await dav.mkcol(path);
  await Promise.all(Array.from({ length: 300 }, (_, index) => dav.put(`small/f${index}.txt`, "x")));
  for (const name of ["a", "b", "c"]) expectStatus(await dav.relocate("COPY", "small", `large/${name}`), 201);
  const copied = dav.relocate("COPY", "large", "Shared%20with%20me/shared/copy");
  expectStatus(await ownerDav.relocate("MOVE", "shared", "other/shared"), 201);
  const { status } = await copied;
  // Begun after the move, or rejected.
  expect([201, 409]).toContain(status);
  expect(await owner.client.names()).toEqual(["other"]);
  expect((await ownerDav.get("other/shared/copy")).status).toBe(status === 201 ? 200 : 404);
});

test("an app password for one folder does not find the uploads of other programs", async () => {
  const account = await server().signUp();
  await account.client.folderId("only");
  const root = `/remote.php/dav/uploads/${encodeURIComponent(account.email)}/`;
  const [whole, limited] = [await connectDav(account, {}, root), await connectDav(account, { folder: "/only" }, root)];
  expectStatus(await whole.mkcol("1"), 201);
  expectStatus(await whole.put("1/1", "secret"), 201);
  expectStatus(await limited.request("PROPFIND", "1"), 404);
  expectStatus(await limited.request("DELETE", "1"), 404);
  const destination = `${server().url}/dav/stolen.txt`;
  expectStatus(await limited.request("MOVE", "1/.file", { headers: { destination } }), 404);
  expectStatus(await limited.mkcol("1"), 201);
  expectStatus(await whole.request("PROPFIND", "1"), 207);
});

testAllResponses(server, { mayFail: [501, 502, 507] });
