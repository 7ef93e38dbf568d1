/** ETags of folders over WebDAV: after changes of every kind, exactly the folders above it have another one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Account, checksumOf, type Client, randomContent } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { registerDevice } from "../support/mobile.ts";
import { file, form, formType } from "../support/multipart.ts";
import { sharedServer, temporaryDirectory } from "../support/server.ts";
import { sendByClient } from "../support/tus.ts";
import { completeUpload, planUpload, sendChunks } from "../support/uploads.ts";
import { connectDav, type DavClient } from "../support/webdav.ts";

const server = sharedServer({
  hasAccounts: true,
  env: { LARDER_RATE_LIMITS: "off", LARDER_MASS_CHANGE_FILES: "1000000" },
});

const propfind = `<?xml version="1.0"?><d:propfind xmlns:d="DAV:"><d:prop><d:getetag/><d:resourcetype/></d:prop></d:propfind>`;

/** The folders and ETags that PROPFIND shows, by path with a slash at the end; the root is `/`. */
async function readEtags(dav: DavClient): Promise<Map<string, string>> {
  const etags = new Map<string, string>();
  const open = [""];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const listed = await dav.request("PROPFIND", path, { headers: { depth: "1" }, body: propfind });
    expectStatus(listed, 207);
    for (const [, response = ""] of listed.text.matchAll(/<d:response>(.*?)<\/d:response>/gs)) {
      if (!response.includes("<d:collection")) continue;
      const found = decodeURIComponent(/<d:href>\/dav(.*?)<\/d:href>/s.exec(response)?.[1] ?? "");
      const etag = /<d:getetag>(.*?)<\/d:getetag>/s.exec(response)?.[1] ?? "";
      expect(etag).not.toBe("");
      // The ETag in the listing of the folder above is that of the folder itself.
      expect(etags.get(found) ?? etag).toBe(etag);
      if (!etags.has(found) && found !== "/") open.push(found.slice(1));
      etags.set(found, etag);
    }
  }
  return etags;
}

/** A folder and all above it. */
function withAncestors(folder: string): string[] {
  const names = folder.split("/").filter((name) => name !== "");
  return ["/", ...names.map((_, index) => `/${names.slice(0, index + 1).join("/")}/`)];
}

/** An account with folders, of which the test knows the ETags. */
class Watched {
  readonly account: Account;
  readonly client: Client;
  readonly #dav: DavClient;

  private constructor(account: Account, dav: DavClient) {
    this.account = account;
    this.client = account.client;
    this.#dav = dav;
  }

  static async open(): Promise<Watched> {
    const account = await server().signUp();
    for (const [name, path] of [
      ["a", "/"],
      ["b", "/a"],
      ["c", "/a/b"],
      ["x", "/a"],
      ["d", "/"],
      ["e", "/d"],
    ]) {
      await account.client.folderId(name ?? "", path);
    }
    return new Watched(account, await connectDav(account));
  }

  /**
   * Expects that the ETags of these folders and of all above them change, and no others.
   * @param moved a folder that has another path afterwards: its former path and the new one
   */
  async changes<T>(
    folders: readonly string[],
    action: () => Promise<T>,
    moved?: readonly [string, string],
  ): Promise<T> {
    const before = await readEtags(this.#dav);
    const result = await action();
    const after = await readEtags(this.#dav);
    const expected = new Set(folders.flatMap(withAncestors));
    const isChanged: Record<string, boolean> = {};
    const isExpected: Record<string, boolean> = {};
    for (const [path, etag] of after) {
      const former = moved !== undefined && path.startsWith(moved[1]) ? moved[0] + path.slice(moved[1].length) : path;
      const known = before.get(former);
      if (known === undefined) continue;
      isChanged[path] = known !== etag;
      isExpected[path] = expected.has(path);
    }
    expect(isChanged).toEqual(isExpected);
    return result;
  }

  /** Like {@link changes}, for a request that must succeed. */
  async changesBy(
    folders: readonly string[],
    action: () => ReturnType<Client["get"]>,
    moved?: readonly [string, string],
  ) {
    const response = await this.changes(folders, action, moved);
    expect([response.status < 300, response.status, response.text]).toEqual([true, response.status, response.text]);
    return response;
  }
}

describe("the ETags of folders change by", () => {
  test("files that are uploaded, replaced, renamed, moved and deleted in the web", async () => {
    const own = await Watched.open();
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
    const own = await Watched.open();
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
    const own = await Watched.open();
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
    const own = await Watched.open();
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

  test("nothing that listings do not show", async () => {
    const own = await Watched.open();
    const { client } = own;
    const id = await client.storedId("one", { fields: { folder: "/a/b/c" } });
    await own.changesBy([], () => client.put(`/api/files/${id}`, { tags: ["red"], description: "A description." }));
    await own.changesBy([], () => client.put(`/api/files/${id}`, { isPublic: true }));
    await own.changesBy([], () => client.get(`/api/files/${id}/download`));
    const folder = await client.folderId("described", "/d");
    await own.changesBy([], () => client.put(`/api/files/folders/${folder}`, { description: "A description." }));
  });
});

describe("an import beside the server", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await temporaryDirectory();
  });
  afterAll(() => rm(directory, { recursive: true }));

  test("changes the ETags of the folders above", async () => {
    const own = await Watched.open();
    await mkdir(join(directory, "b"));
    await writeFile(join(directory, "b", "imported.txt"), "from a disk");
    await own.changes(["/a/b"], async () => {
      const imported = await server().larder(["import", directory, "--user", own.account.email, "--folder", "/a"]);
      expect([imported.code, imported.stderr]).toEqual([0, ""]);
    });
  });
});
