import { describe, expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import type { ApiResponse } from "../support/client.ts";
import { lock, lockInfo, tryLock, unlock } from "../support/dav-locks.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer } from "../support/server.ts";
import { connectDav } from "../support/webdav.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } });

/** An account with `f/a.txt` and a WebDAV client. */
async function open() {
  const account = await server().signUp();
  const dav = await connectDav(account, { name: "Writer's laptop" });
  expectStatus(await dav.mkcol("f"), 201);
  expectStatus(await dav.put("f/a.txt", "one"), 201);
  return { account, dav };
}

/** @param path of the locked item, below the root */
function expectLocked(response: ApiResponse, path?: string): void {
  expectStatus(response, 423);
  const locked = /<d:lock-token-submitted><d:href>\/dav\/(.*?)<\/d:href><\/d:lock-token-submitted>/.exec(response.text);
  if (path === undefined) expect(locked).not.toBeNull();
  else expect(locked?.[1]).toBe(path);
}

const holding = (token: string) => ({ if: `(<${token}>)` });

describe("LOCK", () => {
  test("locks a file until UNLOCK: without the token nothing changes it", async () => {
    const { dav, account } = await open();
    const response = await tryLock(dav, "f/a.txt", { depth: "0", timeout: "Second-600" });
    expectStatus(response, 200);
    const token = /^<(larder:lock:[\w-]{22})>$/.exec(response.header("lock-token"))?.[1] ?? "";
    expect(response.header("content-type")).toBe("application/xml; charset=utf-8");
    expect(response.text).toEndWith(
      '<d:prop xmlns:d="DAV:"><d:lockdiscovery><d:activelock><d:locktype><d:write/></d:locktype>' +
        "<d:lockscope><d:exclusive/></d:lockscope><d:depth>0</d:depth>" +
        '<D:owner xmlns:D="DAV:">test</D:owner><d:timeout>Second-600</d:timeout>' +
        `<d:locktoken><d:href>${token}</d:href></d:locktoken>` +
        "<d:lockroot><d:href>/dav/f/a.txt</d:href></d:lockroot></d:activelock></d:lockdiscovery></d:prop>",
    );
    for (const content of ["one", "two"]) expectLocked(await dav.put("f/a.txt", content), "f/a.txt");
    expectLocked(await dav.request("DELETE", "f/a.txt"));
    expectLocked(await dav.request("DELETE", "f"), "f/a.txt");
    expectLocked(await dav.relocate("MOVE", "f/a.txt", "b.txt"));
    expectLocked(await dav.relocate("MOVE", "f", "g"));
    expectStatus(await dav.put("new.txt", "new"), 201);
    expectLocked(await dav.relocate("COPY", "new.txt", "f/a.txt"), "f/a.txt");
    expectLocked(await dav.relocate("MOVE", "new.txt", "f/a.txt"));
    expect((await dav.get("f/a.txt")).text).toBe("one");
    expect(await account.client.names()).toEqual(["f", "new.txt"]);
    // Members come and go, and a copy leaves the file as it is.
    expectStatus(await dav.put("f/b.txt", "b"), 201);
    expectStatus(await dav.relocate("COPY", "f/a.txt", "copy.txt"), 201);

    expectStatus(await dav.put("f/a.txt", "two", holding(token)), 204);
    const tagged = { if: `<${server().url}/dav/f/a.txt> (<${token}>)` };
    expectStatus(await dav.relocate("MOVE", "new.txt", "f/a.txt", tagged), 204);
    expect((await dav.get("f/a.txt")).text).toBe("new");
    expectLocked(await dav.put("f/a.txt", "three"));
    expectStatus(await unlock(dav, "f/a.txt", token), 204);
    expectStatus(await dav.put("f/a.txt", "three"), 204);
  });

  test("conflicts with a lock on the same item, above it, or below it", async () => {
    const { dav } = await open();
    const own = await lock(dav, "f/a.txt");
    const again = await tryLock(dav, "f/a.txt");
    expectStatus(again, 423);
    expect(again.text).toContain("<d:no-conflicting-lock/>");
    const folder = await tryLock(dav, "f", { depth: "infinity" });
    expectStatus(folder, 207);
    expect(folder.text).toContain(
      "<d:response><d:href>/dav/f/a.txt</d:href><d:status>HTTP/1.1 423 Locked</d:status></d:response>" +
        "<d:response><d:href>/dav/f/</d:href><d:status>HTTP/1.1 424 Failed Dependency</d:status></d:response>",
    );
    expectStatus(await unlock(dav, "f/a.txt", own), 204);
    // Windows sends no Depth: everything below.
    const deep = await lock(dav, "f", {});
    expectStatus(await tryLock(dav, "f/a.txt"), 423);
    expectLocked(await dav.put("f/a.txt", "two"));
    expectLocked(await dav.put("f/new.txt", "new"));
    expectLocked(await dav.mkcol("f/new"));
    expectStatus(await dav.put("f/new.txt", "new", holding(deep)), 201);
    expectStatus(await dav.request("DELETE", "f/new.txt", { headers: holding(deep) }), 204);
    expectStatus(await unlock(dav, "f/a.txt", deep), 204);
    expectStatus(await dav.mkcol("f/new"), 201);
  });

  test("can be refreshed and ended by either Unicode form of a name", async () => {
    const { dav } = await open();
    const decomposed = encodeURIComponent("é.txt".normalize("NFD"));
    expectStatus(await dav.put(encodeURIComponent("é.txt".normalize("NFC")), "x"), 201);
    expectStatus(await tryLock(dav, decomposed), 409);
    const token = await lock(dav, encodeURIComponent("é.txt".normalize("NFC")));
    expectStatus(await tryLock(dav, decomposed, holding(token), ""), 200);
    expectStatus(await unlock(dav, decomposed, token), 204);
  });

  test("of a folder alone protects which members it has", async () => {
    const { dav } = await open();
    const token = await lock(dav, "f", { depth: "0" });
    expectStatus(await dav.put("f/a.txt", "two"), 204);
    expectLocked(await dav.put("f/b.txt", "b"), "f/");
    expectLocked(await dav.request("DELETE", "f/a.txt"), "f/");
    const tagged = { if: `</dav/f> (<${token}>)` };
    expectStatus(await dav.put("f/b.txt", "b", tagged), 201);
    expectStatus(await dav.request("DELETE", "f/a.txt", { headers: tagged }), 204);
  });

  test("of a name that is free makes an empty file", async () => {
    const { dav } = await open();
    const response = await tryLock(dav, "f/new%20file.txt");
    expectStatus(response, 201);
    const token = response.header("lock-token").slice(1, -1);
    expect(response.text).toContain("<d:href>/dav/f/new%20file.txt</d:href>");
    expect((await dav.get("f/new%20file.txt")).text).toBe("");
    expectLocked(await dav.put("f/new%20file.txt", "x"));
    expectStatus(await dav.put("f/new%20file.txt", "x", holding(token)), 204);
    expectStatus(await tryLock(dav, "none/new.txt"), 409);
    const racing = await Promise.all(Array.from({ length: 6 }, () => tryLock(dav, "f/racing.txt")));
    expect(racing.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 423, 423, 423, 423, 423]);
    await lock(dav, "f", { depth: "0" });
    expectLocked(await tryLock(dav, "f/another.txt"));
    expectStatus(await dav.get("f/another.txt"), 404);
  });

  test("is shared if requested: others lock too, and each token is enough", async () => {
    const { dav } = await open();
    const shared = lockInfo("shared");
    const [one, two] = [await lock(dav, "f/a.txt", {}, shared), await lock(dav, "f/a.txt", {}, shared)];
    expectStatus(await tryLock(dav, "f/a.txt"), 423);
    expectLocked(await dav.put("f/a.txt", "two"));
    for (const token of [one, two]) expectStatus(await dav.put("f/a.txt", token, holding(token)), 204);
    for (let count = 2; count < 20; count++) await lock(dav, "f/a.txt", {}, shared);
    expectStatus(await tryLock(dav, "f/a.txt", {}, shared), 507);
  });

  test("lasts an hour at most, and expires automatically", async () => {
    const { dav } = await open();
    for (const timeout of ["Infinite, Second-4100000000", "Second-86400", "", "Extend"]) {
      const response = await tryLock(dav, "f/a.txt", { timeout });
      expect(response.text).toContain("<d:timeout>Second-3600</d:timeout>");
      expectStatus(await unlock(dav, "f/a.txt", response.header("lock-token").slice(1, -1)), 204);
    }
    const token = await lock(dav, "f/a.txt", { timeout: "Second-1" });
    await eventually("the lock expires", async () => (await dav.put("f/a.txt", "two")).status === 204);
    expectStatus(await dav.put("f/a.txt", "three", holding(token)), 412);
    expectStatus(await unlock(dav, "f/a.txt", token), 409);
  });

  test("without a body refreshes a lock", async () => {
    const { dav } = await open();
    const token = await lock(dav, "f", { timeout: "Second-60" });
    const refresh = (path: string, headers: Record<string, string>) => dav.request("LOCK", path, { headers });
    for (const path of ["f", "f/a.txt"]) {
      const response = await refresh(path, { timeout: "Second-1800", ...holding(token) });
      expectStatus(response, 200);
      expect(response.text).toContain("<d:timeout>Second-1800</d:timeout>");
      expect(response.text).toContain("<d:href>/dav/f/</d:href></d:lockroot>");
    }
    expectStatus(await refresh("f", {}), 400);
    expectStatus(await refresh("f", holding("larder:lock:unknown")), 423);
    expectStatus(await refresh("f", { if: `(<${token}>) (Not <DAV:no-lock>)` }), 200);
    expectStatus(await refresh("f", { if: "(Not <DAV:no-lock>)" }), 412);
    expectStatus(await refresh("none", holding(token)), 404);
  });

  test("rejects what it can't do", async () => {
    const { dav, account } = await open();
    const bodies = [
      "<lockinfo",
      "<a/>",
      '<lockinfo xmlns="DAV:"/>',
      '<!DOCTYPE a [<!ENTITY e "x">]><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope></lockinfo>',
      '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope></lockinfo>',
      '<lockinfo xmlns="DAV:"><lockscope><exclusive/><shared/></lockscope><locktype><write/></locktype></lockinfo>',
      lockInfo("exclusive", "x".repeat(5_000)),
    ];
    for (const body of bodies) expectStatus(await tryLock(dav, "f/a.txt", {}, body), 400);
    expectStatus(await tryLock(dav, "f/a.txt", {}, lockInfo("exclusive", "x".repeat(1_100_000))), 413);
    expectStatus(await tryLock(dav, "f", { depth: "1" }), 400);
    expectStatus(await tryLock(dav, "f", { if: "(" }), 400);
    expectStatus(await tryLock(dav, "", { depth: "infinity" }), 403);
    await lock(dav, "", { depth: "0" });
    expectLocked(await dav.mkcol("new"));
    const reader = await connectDav(account, { access: "read" });
    expectStatus(await tryLock(reader, "f/a.txt"), 403);
    expectStatus(await tryLock(reader, "f/new.txt"), 403);
    expectStatus(await dav.get("f/new.txt"), 404);
    for (const header of ["", "<>", "larder:lock:x", "<a> <b>"]) {
      expectStatus(await dav.request("UNLOCK", "f/a.txt", { headers: { "lock-token": header } }), 400);
    }
    expectStatus(await unlock(dav, "f/a.txt", "larder:lock:unknown"), 409);
    expectStatus(await unlock(dav, "none", "larder:lock:unknown"), 404);
  });
});

describe("the header If", () => {
  test("compares tokens and ETags, of other items too", async () => {
    const { dav } = await open();
    const etag = (await dav.get("f/a.txt")).header("etag");
    expectStatus(await dav.put("f/a.txt", "one", { if: `([${etag}])` }), 204);
    expectStatus(await dav.put("f/a.txt", "two", { if: '(["other"])' }), 412);
    expectStatus(await dav.put("f/a.txt", "two", { if: `</dav/f/a.txt> (["other"]) ([${etag}])` }), 204);
    expectStatus(await dav.put("f/a.txt", "one", { if: `</dav/f/a.txt> ([${etag}])` }), 412);
    expectStatus(await dav.put("f/a.txt", "one", { if: `<http://other.example/dav/f/a.txt> (Not [${etag}])` }), 204);
    expectStatus(await dav.put("f/new.txt", "new", { if: `</dav/f/a.txt> ([${etag}])` }), 201);
    expectStatus(await dav.put("f/new.txt", "new", { if: "(<larder:lock:none>)" }), 412);
    const token = await lock(dav, "f/a.txt");
    expectLocked(await dav.put("f/a.txt", "three", { if: "(<larder:lock:none>)" }));
    expectStatus(await dav.put("f/a.txt", "three", { if: `(<${token}> ["other"])` }), 412);
    expectLocked(await dav.put("f/a.txt", "three", { if: "(Not <DAV:no-lock>)" }));
    expectStatus(await dav.put("f/a.txt", "three", { if: `(<${token}> [${etag}])` }), 204);
    for (const bad of ["", "()", "(<a>", `<${"x".repeat(9_000)}> (<a>)`, "(<a>) ".repeat(101)]) {
      expectStatus(await dav.put("f/a.txt", "four", { if: bad }), 400);
    }
    expect((await dav.get("f/a.txt")).text).toBe("three");
  });
});

test("only the account whose program made a lock uses its token; the owner of the files ends it", async () => {
  const { account, dav } = await open();
  const guest = await server().signUp();
  const folder = (await account.client.get("/api/files?folder=/")).string("data.files.0.id");
  await shareWith(account.client, folder, guest, { permissions: "write" });
  const guestDav = await connectDav(guest, { name: "Guest's phone" });
  const shared = "Shared%20with%20me/f";
  const response = await tryLock(guestDav, shared, {});
  expectStatus(response, 200);
  expect(response.text).toContain("<d:href>/dav/Shared%20with%20me/f/</d:href>");
  const token = response.header("lock-token").slice(1, -1);
  expectStatus(await guestDav.put(`${shared}/a.txt`, "by the guest", holding(token)), 204);
  expectLocked(await guestDav.put(`${shared}/a.txt`, "without"), `${shared}/a.txt`);
  expectLocked(await dav.put("f/a.txt", "by the owner"));
  expectLocked(await dav.put("f/a.txt", "by the owner", holding(token)));
  expect((await guest.client.get("/api/users/locks")).at("data.locks")).toEqual([]);

  const { client } = account;
  const listed = await client.get("/api/users/locks");
  expect(listed.at("data.locks")).toMatchObject([
    { folderId: folder, name: "f", path: "/f", program: "Guest's phone" },
  ]);
  const path = `/api/users/locks/${listed.string("data.locks.0.id")}`;
  expectError(await guest.client.delete(path), 404, "not_found");
  expectStatus(await client.delete(path), 200);
  expectError(await client.delete(path), 404, "not_found");
  expectStatus(await dav.put("f/a.txt", "by the owner"), 204);

  const again = await lock(guestDav, `${shared}/a.txt`);
  expectStatus(await unlock(dav, "f/a.txt", again), 204);
  const own = await lock(dav, "f/a.txt");
  expectStatus(await unlock(guestDav, `${shared}/a.txt`, own), 403);
  expectLocked(await guestDav.put(`${shared}/a.txt`, "again"));
});

test("a lock survives a restart", async () => {
  await withServer({ hasAccounts: true }, async (own) => {
    const account = await own.signUp();
    const dav = await connectDav(account);
    expectStatus(await dav.put("a.txt", "one"), 201);
    const token = await lock(dav, "a.txt");
    await own.restart();
    expectLocked(await dav.put("a.txt", "two"));
    expectStatus(await dav.put("a.txt", "two", holding(token)), 204);
  });
});

testAllResponses(server, { mayFail: [507] });
