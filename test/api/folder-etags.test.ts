/** ETags of folders over WebDAV: after changes of every kind, exactly the folders above it have another one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ApiResponse, checksumOf, randomContent } from "../support/client.ts";
import { shareWith, soonExpiry, waitForExpiry } from "../support/account-shares.ts";
import { eventually, expectStatus, waitForNextMillisecond } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { registerDevice } from "../support/mobile.ts";
import { file, form, formType } from "../support/multipart.ts";
import { sharedServer, temporaryDirectory } from "../support/server.ts";
import { sendByClient } from "../support/tus.ts";
import { completeUpload, planUpload, sendChunks } from "../support/uploads.ts";
import { readMultistatus } from "../support/multistatus.ts";
import { seededRandom, seedsToRun } from "../support/random.ts";
import { Watched } from "../support/watched-folders.ts";
import { connectDav, type DavClient } from "../support/webdav.ts";

const server = sharedServer({
  hasAccounts: true,
  env: { LARDER_RATE_LIMITS: "off", LARDER_MASS_CHANGE_FILES: "1000000" },
});

const PROPPATCH = `<d:propertyupdate xmlns:d="DAV:" xmlns:x="urn:x"><d:set><d:prop>`;
const proppatch = (dav: DavClient, path: string, property: string) =>
  dav.request("PROPPATCH", path, { body: `${PROPPATCH}${property}</d:prop></d:set></d:propertyupdate>` });

const LOCKINFO = `<d:lockinfo xmlns:d="DAV:"><d:lockscope><d:exclusive/></d:lockscope><d:locktype><d:write/></d:locktype></d:lockinfo>`;
const lock = (dav: DavClient, path: string) => dav.request("LOCK", path, { body: LOCKINFO });

const FOLDERS = ["/a", "/a/b", "/a/b/c", "/a/x", "/d", "/d/e"];
const open = async () => Watched.open(await server().signUp(), FOLDERS);

describe("the ETags of folders change by", () => {
  test("files that are uploaded, replaced, renamed, moved and deleted in the web", async () => {
    const own = await open();
    const { client } = own;
    const id = await own.changes(["/a/b/c"], () => client.storedId("one", { fields: { folder: "/a/b/c" } }));
    await own.changesBy(["/a/b/c"], () => client.putContent(id, "two"));
    await own.changesBy(["/a/b/c"], () => client.post(`/api/files/${id}/versions/1/restore`));
    await own.changesBy(["/a/b/c"], () => client.put(`/api/files/${id}`, { name: "other.txt" }));
    await own.changesBy(["/a/b/c", "/d"], () => client.put(`/api/files/${id}`, { folder: "/d" }));
    await own.changesBy(["/d", "/a/x"], () =>
      client.post("/api/files/move", { fileIds: [id], destinationFolder: "/a/x" }),
    );
    await own.changesBy(["/d/e"], () => client.post("/api/files/copy", { fileIds: [id], destinationFolder: "/d/e" }));
    await own.changesBy(["/a/x"], () => client.post("/api/files/trash", { fileIds: [id] }));
    await own.changesBy(["/a/x"], () => client.post("/api/files/trash/restore", { fileIds: [id] }));
    await own.changesBy(["/a/x"], () => client.delete(`/api/files/${id}`));
  });

  test("folders that are created, renamed, moved, copied and deleted, without a new one of their own", async () => {
    const own = await open();
    const { client } = own;
    await client.storedId("deep", { fields: { folder: "/a/b/c" } });
    const idOf = async (parent: string, name: string) => {
      const listed = await client.get(`/api/files?folder=${encodeURIComponent(parent)}`);
      const ids = listed.strings("data.files", "id");
      return ids[listed.strings("data.files", "name").indexOf(name)] ?? "";
    };
    const b = await idOf("/a", "b");
    const created = await own.changes(["/d/e"], () => client.folderId("new", "/d/e"));
    await own.changesBy(["/a"], () => client.put(`/api/files/folders/${b}`, { name: "bb" }), ["/a/b/", "/a/bb/"]);
    await own.changesBy(["/a", "/d"], () => client.put(`/api/files/folders/${b}`, { folder: "/d" }), [
      "/a/bb/",
      "/d/bb/",
    ]);
    await own.changesBy(["/a/x"], () => client.post("/api/files/copy", { fileIds: [b], destinationFolder: "/a/x" }));
    await own.changesBy(["/d"], () => client.post("/api/files/trash", { fileIds: [b] }));
    await own.changesBy(["/d"], () => client.post("/api/files/trash/restore", { fileIds: [b] }));
    await own.changesBy(["/d/e"], () => client.delete(`/api/files/folders/${created}`));
    await own.changesBy(["/d"], () => client.delete(`/api/files/folders/${b}?recursive=true`));
  });

  test("devices, queues, uploads in chunks and tus", async () => {
    const own = await open();
    const phone = await registerDevice(server(), own.account);
    const content = randomContent(3_000);
    const plan = await planUpload(phone.client, content, { name: "photo.bin", folder: "/a/b" });
    await own.changes([], () => sendChunks(phone.client, plan, content));
    await own.changesBy(["/a/b"], () => completeUpload(phone.client, plan.uploadId));
    await own.changes(["/d/e"], () =>
      sendByClient(own.client, randomContent(2_000), { metadata: { filename: "t.bin", folder: "/d/e" } }),
    );
    const id = await own.client.storedId("to be deleted", { fields: { folder: "/a/x" } });
    const text = "known bytes";
    const known = await own.client.storedId(text, { name: "known.txt", fields: { folder: "/d" } });
    await own.changes(["/d"], async () => {
      const change = { action: "delete", localId: "1", fileId: known, checksum: checksumOf(text) };
      const sent = await phone.client.post("/api/mobile/sync/files", { localChanges: [change] });
      expect(sent.strings("data.results", "status")).toEqual(["applied"]);
    });
    await own.changes(["/a/x"], async () => {
      const createdAt = new Date().toISOString();
      const operation = { id: "delete it", type: "delete", priority: "high", createdAt, fileId: id };
      expectStatus(await phone.client.post("/api/mobile/queue/add", { operations: [operation] }), 200);
      await eventually(
        "the queue deleted the file",
        async () => (await own.client.get(`/api/files/${id}`)).status === 404,
      );
    });
  });

  test("visitors of a drop box", async () => {
    const own = await open();
    const folder = await own.client.folderId("box", "/d/e");
    const share = await own.client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload" });
    await own.changes(["/d/e/box"], async () => {
      const sent = await server().visitor.request("POST", `/api/public/${share.string("data.token")}/upload`, {
        body: form([file("notes.txt", "hello")]),
        headers: { "content-type": formType },
      });
      expectStatus(sent, 201);
    });
  });

  test("programs that use WebDAV, also in chunks", async () => {
    const own = await open();
    const { dav } = own;
    const mtime = { "x-oc-mtime": "1600000000" };
    await own.changesBy(["/a/b/c"], () => dav.put("a/b/c/one.txt", "1", mtime));
    await own.changesBy([], () => dav.put("a/b/c/one.txt", "1", mtime));
    await own.changesBy(["/a/b/c"], () => dav.put("a/b/c/one.txt", "1", { "x-oc-mtime": "1500000000" }));
    await own.changesBy(["/a/b/c"], () =>
      proppatch(dav, "a/b/c/one.txt", `<d:getlastmodified>1400000000</d:getlastmodified>`),
    );
    await own.changesBy(["/a/b/c"], () => proppatch(dav, "a/b/c/one.txt", `<x:p>1</x:p>`));
    await own.changesBy([], () => proppatch(dav, "a/b/c/one.txt", `<x:p>1</x:p>`));
    await own.changesBy(["/a"], () => proppatch(dav, "a/x", `<x:p>2</x:p>`));
    // A copy onto a file with the same content and date copies its properties too.
    await own.changesBy(["/d/e"], () => dav.put("d/e/two.txt", "1", { "x-oc-mtime": "1400000000" }));
    await own.changesBy(["/d/e"], () => dav.relocate("COPY", "a/b/c/one.txt", "d/e/two.txt"));
    await own.changesBy(["/a/b/c", "/d"], () => dav.relocate("MOVE", "a/b/c/one.txt", "d/one.txt"));
    await own.changesBy(["/d"], () => dav.put("d/.~new", "3"));
    await own.changesBy(["/d"], () => dav.relocate("MOVE", "d/.~new", "d/one.txt"));
    await own.changesBy(["/a/b"], () => dav.mkcol("a/b/made"));
    await own.changesBy(["/a", "/d/e"], () => dav.relocate("MOVE", "a/b", "d/e/b"), ["/a/b/", "/d/e/b/"]);
    await own.changesBy(["/a/x"], () => dav.relocate("COPY", "d/e", "a/x/e"));
    await own.changesBy([], () => lock(dav, "d/one.txt"));
    await own.changesBy(["/a/x"], () => lock(dav, "a/x/locked.txt"));
    await own.changesBy(["/d/e/b"], () => dav.request("DELETE", "d/e/b/c"));
    const transfer = `/remote.php/dav/uploads/${encodeURIComponent(own.account.email)}/t1/`;
    const uploads = await connectDav(own.account, {}, transfer);
    await own.changesBy([], () => uploads.mkcol(""));
    await own.changesBy([], () => uploads.put("00001", "in chunks"));
    const destination = `${server().url}/remote.php/webdav/d/e/chunked.txt`;
    await own.changesBy(["/d/e"], () => uploads.request("MOVE", ".file", { headers: { destination } }));
  });

  test("undoing: of a device, to an earlier time, and of a conflict", async () => {
    const own = await open();
    const { client } = own;
    const [phone, other] = [await registerDevice(server(), own.account), await registerDevice(server(), own.account)];
    const id = await client.storedId("one", { name: "f.txt", fields: { folder: "/a/b/c" } });
    const known = await client.storedId("known", { name: "k.txt", fields: { folder: "/d/e" } });
    const then = (await client.post("/api/files/folders", { name: "probe" })).string("data.createdAt");
    await waitForNextMillisecond();
    const at = new Date(Date.parse(then) + 1).toISOString();
    await own.changesBy(["/a/b/c"], () => phone.client.putContent(id, "ruined"));
    const since = { since: at };
    await own.changesBy(["/a/b/c"], () => other.client.post(`/api/mobile/devices/${phone.deviceId}/rewind`, since));
    await own.changesBy(["/a/b/c"], () => client.post("/api/files/trash", { fileIds: [id] }));
    await own.changesBy(["/a/b/c"], () => client.post("/api/files/restore", { folder: "/a/b", at }));
    await own.changesBy(["/d/e"], () => client.putContent(known, "theirs"));
    const digests = { checksum: checksumOf("mine"), baseChecksum: checksumOf("known") };
    const change = {
      action: "update",
      localId: "1",
      fileId: known,
      name: "k.txt",
      folder: "/d/e",
      size: 4,
      ...digests,
    };
    const sync = { localChanges: [change] };
    const conflict = await own.changesBy([], () => phone.client.post("/api/mobile/sync/files", sync));
    const conflictId = conflict.string("data.results.0.conflictId");
    const resolution = { conflicts: [{ conflictId, resolution: "keep_remote" }] };
    await own.changesBy([], () => phone.client.post("/api/mobile/conflicts/resolve", resolution));
  });

  test("nothing of the account, of its trash and earlier versions, and of housekeeping", async () => {
    const own = await open();
    const { client } = own;
    const id = await client.storedId("one", { fields: { folder: "/a/b/c" } });
    await client.putContent(id, "two");
    await own.changesBy([], () => client.delete(`/api/files/${id}/versions/1`));
    const folder = await client.folderId("gone", "/d/e");
    const file = await client.storedId("gone", { fields: { folder: "/d" } });
    await client.post("/api/files/trash", { fileIds: [folder, file] });
    await own.changesBy([], () => client.delete(`/api/files/trash/${file}`));
    await own.changesBy([], () => client.delete("/api/files/trash"));
    await own.changesBy([], () => client.put("/api/users/profile", { name: "Another Name" }));
    await own.changesBy([], () => client.post(`/api/files/${id}/shares`, {}));
    const { client: admin } = await server().addUser(["--admin"]);
    await own.changes([], async () => {
      for (const job of ["trash", "old-versions", "history", "journal", "undo", "folder-states", "recount"]) {
        await runJob(admin, job);
      }
    });
    // Clients store the permission of each item.
    for (const path of ["a/x", "d/e"]) expectStatus(await own.dav.put(`${path}/a.txt`, "x"), 201);
    await own.changes(["/a/b/c", "/a/x", "/d/e"], () => server().change(own.account.id, { role: "viewer" }));
  });

  test("nothing that listings do not show", async () => {
    const own = await open();
    const { client } = own;
    const id = await client.storedId("one", { fields: { folder: "/a/b/c" } });
    await own.changesBy([], () => client.put(`/api/files/${id}`, { tags: ["red"], description: "A description." }));
    await own.changesBy([], () => client.put(`/api/files/${id}`, { isPublic: true }));
    await own.changesBy([], () => client.get(`/api/files/${id}/download`));
    const folder = await client.folderId("described", "/d");
    await own.changesBy([], () => client.put(`/api/files/folders/${folder}`, { description: "A description." }));
  });
});

describe("the ETags of the recipient of a share change by", () => {
  const at = (...names: string[]) => ["/Shared with me", ...names].join("/");
  const DEEP = at("top", "sub", "deep");

  /** An owner with `/top/sub/deep/a.txt` and `/beside/single.txt`, and a recipient with `/a/own.txt`. */
  async function makeScene() {
    const owner = await server().signUp();
    const { client } = owner;
    const [own, guest] = [await connectDav(owner), await Watched.open(await server().signUp(), ["/a"])];
    for (const path of ["top", "top/sub", "top/sub/deep", "beside"]) expectStatus(await own.mkcol(path), 201);
    expectStatus(await own.put("top/sub/deep/a.txt", "1"), 201);
    expectStatus(await guest.dav.put("a/own.txt", "1"), 201);
    const single = await client.storedId("1", { name: "single.txt", fields: { folder: "/beside" } });
    const idIn = async (folder: string, name: string) => {
      const listed = await client.get(`/api/files?type=folder&folder=${folder}`);
      return listed.strings("data.files", "id")[listed.strings("data.files", "name").indexOf(name)] ?? "";
    };
    return { owner, client, own, guest, single, top: await idIn("/", "top"), sub: await idIn("/top", "sub") };
  }

  test("its grant, permission, name and end", async () => {
    const { owner, client, guest, single, top, sub } = await makeScene();
    const share = await guest.changes(["/"], () => shareWith(client, top, guest.account));
    await guest.changesBy([DEEP], () => client.patch(`/api/shares/${share}`, { permissions: "write" }));
    await guest.changesBy([at()], () => client.put(`/api/files/folders/${top}`, { name: "other" }), [
      `${at("top")}/`,
      `${at("other")}/`,
    ]);
    await guest.changesBy([], () => client.put(`/api/files/folders/${top}`, { folder: "/beside" }));
    await guest.changesBy([], () => client.patch(`/api/shares/${share}`, { label: "for you" }));
    const nested = await guest.changes([at()], () => shareWith(client, sub, guest.account));
    await guest.changesBy([at("other")], () => client.post("/api/files/trash", { fileIds: [sub] }));
    await guest.changesBy([at("other")], () => client.post("/api/files/trash/restore", { fileIds: [sub] }));
    const expiresAt = soonExpiry();
    await guest.changes([at()], () => shareWith(client, single, guest.account, { expiresAt }));
    await guest.changes([at()], () => waitForExpiry(expiresAt));
    await guest.changesBy([at()], () => client.delete(`/api/shares/${nested}`));
    await guest.changes(["/"], () => server().change(owner.id, { disabled: true }));
    await guest.changes(["/"], () => server().change(owner.id, { disabled: false }));
    await guest.changesBy(["/"], () => guest.client.delete(`/api/shares/received/${share}`));
  }, 30_000);

  test("everything in it, and by nothing beside it", async () => {
    const { client, own, guest, single, top } = await makeScene();
    await shareWith(client, top, guest.account, { permissions: "write" });
    await shareWith(client, single, guest.account, { permissions: "write" });
    const deep = "Shared%20with%20me/top/sub/deep";
    await guest.changesBy([DEEP], () => own.put("top/sub/deep/b.txt", "2"));
    await guest.changesBy([DEEP], () => guest.dav.relocate("MOVE", `${deep}/b.txt`, "Shared%20with%20me/top/b.txt"));
    await guest.changesBy([DEEP, "/a"], () => guest.dav.relocate("MOVE", `${deep}/a.txt`, "a/from-share.txt"));
    await guest.changesBy([DEEP], () => guest.dav.put(`${deep}/c.txt`, "3"));
    await guest.changesBy([at()], () => own.put("beside/single.txt", "other"));
    await guest.changesBy([at()], () => proppatch(own, "beside/single.txt", "<x:p>1</x:p>"));
    await guest.changesBy([at()], () => proppatch(own, "top", "<x:p>2</x:p>"));
    await guest.changesBy([], () => own.put("beside/unseen.txt", "x"));
    await guest.changes([DEEP, "/a"], () => server().change(guest.account.id, { role: "viewer" }));
  });
});

const GETETAG = `<d:propfind xmlns:d="DAV:"><d:prop><d:getetag/></d:prop></d:propfind>`;
const listEtags = (dav: DavClient, path: string, depth: "0" | "1") =>
  dav.request("PROPFIND", path, { headers: { depth }, body: GETETAG });
const etagsIn = (response: ApiResponse) =>
  [...readMultistatus(response)].map(([href, found]) => [href, found.get("DAV:getetag")?.text ?? ""] as const);

test("a condition on the ETag of a folder fails as soon as something below has changed", async () => {
  const own = await open();
  const { dav } = own;
  const etagOf = async (path: string) => etagsIn(await listEtags(dav, path, "0"))[0]?.[1] ?? "";
  const etag = await etagOf("a/b");
  await dav.put("a/b/c/unseen.txt", "by another program");
  expectStatus(await dav.request("DELETE", "a/b", { headers: { "if-match": etag } }), 412);
  expectStatus(await dav.request("DELETE", "a/b", { headers: { if: `(["${etag}"])`.replaceAll('""', '"') } }), 412);
  expectStatus(await dav.request("DELETE", "d", { headers: { "if-match": await etagOf("d") } }), 204);
  expectStatus(await dav.request("DELETE", "a/b", { headers: { "if-match": await etagOf("a/b") } }), 204);
});

/** What a sync client stores: the ETag of each folder, and the members of each. */
class SyncedTree {
  readonly #dav: DavClient;
  readonly #folders = new Map<string, { etag: string; members: Map<string, string> }>();

  constructor(dav: DavClient) {
    this.#dav = dav;
  }

  /** One run: asks for the ETag of the root, and looks into the folders whose ETag is another one. */
  async run(): Promise<void> {
    const [[, etag] = ["", ""]] = etagsIn(await listEtags(this.#dav, "", "0"));
    await this.#look("/dav/", etag);
  }

  async #look(path: string, etag: string): Promise<void> {
    if (this.#folders.get(path)?.etag === etag) return;
    const response = await listEtags(this.#dav, path.slice("/dav/".length), "1");
    // Moved or deleted since the folder above was listed: the next run sees that.
    if (response.status === 404) return;
    const [[, own] = ["", ""], ...members] = etagsIn(response);
    for (const [href, shown] of members) if (href.endsWith("/")) await this.#look(href, shown);
    this.#folders.set(path, { etag: own, members: new Map(members) });
  }

  /** The files that are reachable from the root, with their ETags. */
  files(path = "/dav/"): string[] {
    const { members = new Map<string, string>() } = this.#folders.get(path) ?? {};
    return [...members].flatMap(([href, etag]) => (href.endsWith("/") ? this.files(href) : `${href} ${etag}`)).sort();
  }
}

test.each(seedsToRun([1]))(
  "a client that lists while others write misses no change (seed %d)",
  async (seed) => {
    const random = seededRandom(seed);
    const { dav } = await open();
    // Large enough for several slices of a response.
    for (let i = 0; i < 450; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, j) => dav.put(`a/f${i + j}.txt`, "x")));
    }
    const client = new SyncedTree(dav);
    const pick = () =>
      `${random.pick(["a", "a/b", "a/b/c", "a/x", "d", "d/e"])}/${random.pick(["n", "m", "o"])}${random.below(3)}`;
    const change = () => {
      const [path, other] = [pick(), pick()];
      return random.pick([
        () => dav.put(path, `${random.below(1_000)}`),
        () => dav.put(path, `${random.below(1_000)}`),
        () => dav.mkcol(path),
        () => dav.request("DELETE", path),
        () => dav.relocate("MOVE", path, other),
        () => dav.relocate("COPY", path, other),
      ])();
    };
    for (let round = 0; round < 12; round++) {
      const writing = Array.from({ length: 3 }, async () => {
        for (let i = 0; i < 12; i++) expect((await change()).status).toBeLessThan(500);
      });
      const written = Promise.all(writing);
      while (Bun.peek.status(written) === "pending") await client.run();
      await written;
      await client.run();
      const fresh = new SyncedTree(dav);
      await fresh.run();
      expect(client.files()).toEqual(fresh.files());
    }
  },
  60_000,
);

describe("an import beside the server", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await temporaryDirectory();
  });
  afterAll(() => rm(directory, { recursive: true }));

  test("changes the ETags of the folders above", async () => {
    const own = await open();
    await mkdir(join(directory, "b"));
    await writeFile(join(directory, "b", "imported.txt"), "from a disk");
    await own.changes(["/a/b"], async () => {
      const imported = await server().larder(["import", directory, "--user", own.account.email, "--folder", "/a"]);
      expect([imported.code, imported.stderr]).toEqual([0, ""]);
    });
  });
});
