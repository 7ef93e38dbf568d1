// The requests that Finder of macOS sends (WebDAVFS), in its order and with its headers and properties.
import { expect, test } from "bun:test";
import { type ApiResponse, digestOf } from "../support/client.ts";
import type { TestServer } from "../support/server.ts";
import {
  type ClientAccount,
  clientServer,
  dav,
  type DavOptions,
  newClientAccount,
  readServerTree,
} from "./support/account.ts";
import { describeWith, runProgram } from "./support/programs.ts";
import { resourcesOf } from "./support/multistatus.ts";

const server = clientServer();
const agent = "WebDAVFS/3.0.0 (03008000) Darwin/23.6.0 (arm64)";

/** What Finder asks of every file and folder. */
const propfind =
  '<?xml version="1.0" encoding="utf-8"?>\n<D:propfind xmlns:D="DAV:">\n<D:prop>\n<D:getlastmodified/>\n' +
  "<D:getcontentlength/>\n<D:creationdate/>\n<D:resourcetype/>\n</D:prop>\n</D:propfind>\n";
const quota =
  '<?xml version="1.0" encoding="utf-8"?>\n<D:propfind xmlns:D="DAV:">\n<D:prop>\n<D:quota-available-bytes/>\n' +
  "<D:quota-used-bytes/>\n<D:quota/>\n<D:quotaused/>\n</D:prop>\n</D:propfind>\n";
const lockBody =
  '<?xml version="1.0" encoding="utf-8"?>\n<D:lockinfo xmlns:D="DAV:">\n<D:lockscope><D:exclusive/></D:lockscope>\n' +
  "<D:locktype><D:write/></D:locktype>\n<D:owner>\n<D:href>http://www.apple.com/webdav_fs/</D:href>\n</D:owner>\n</D:lockinfo>\n";

type Send = (method: string, path: string, options?: DavOptions) => Promise<ApiResponse>;

/** Sends requests as Finder does. */
function finder(server: TestServer, account: ClientAccount): Send {
  return async (method, path, { headers = {}, body } = {}) =>
    dav(server, account, method, path, {
      headers: {
        "user-agent": agent,
        accept: "*/*",
        ...(body === undefined ? {} : { "content-type": "text/xml" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
}

/** Stores a file with a body in chunked coding, as Finder does: an empty file, a lock, the content, the end of the lock. */
async function save(send: Send, account: ClientAccount, path: string, content: string): Promise<ApiResponse> {
  const locked = await send("LOCK", path, { headers: { depth: "0", timeout: "Second-600" }, body: lockBody });
  expect([200, 201]).toContain(locked.status);
  const token = /<([^>]+)>/.exec(locked.header("lock-token"))?.[1] ?? "";
  const response = await putInChunks(path, account, content, { "user-agent": agent, if: `(<${token}>)` });
  expect((await send("UNLOCK", path, { headers: { "lock-token": `<${token}>` } })).status).toBe(204);
  return response;
}

/** Sends a body of unknown length, which has the chunked coding and no Content-Length. */
async function putInChunks(
  path: string,
  { authorization }: ClientAccount,
  content: string,
  headers: Record<string, string>,
): Promise<ApiResponse> {
  const words = ["curl", "--silent", "--show-error", "--upload-file", "-", "--write-out", "%{http_code}"];
  for (const [name, value] of Object.entries({ authorization, ...headers, expect: "" })) {
    words.push("--header", `${name}: ${value}`);
  }
  const { output } = await runProgram([...words, "--output", "/dev/null", server().url + path], { stdin: content });
  const response = await dav(server(), { authorization }, "HEAD", path);
  expect(["200", "201", "204"]).toContain(output);
  return response;
}

describeWith("Finder", ["curl"], () => {
  test("a mount is writable and shows the folder, the quota and the dates", async () => {
    const account = await newClientAccount(server());
    const send = finder(server(), account);
    await account.client.stored("hello", { name: "a.txt", fields: { fileModifiedAt: "2020-01-02T03:04:05.000Z" } });
    // Finder asks without credentials first.
    const options = await fetch(`${server().url}/dav/`, { method: "OPTIONS", headers: { "user-agent": agent } });
    expect(options.status).toBe(200);
    expect(options.headers.get("dav")?.split(/, */)).toContainValues(["1", "2"]);
    const root = resourcesOf(await send("PROPFIND", "/dav/", { headers: { depth: "0" }, body: propfind }));
    expect(root[0]?.found["resourcetype"]).toContain("collection");
    const available = resourcesOf(await send("PROPFIND", "/dav/", { headers: { depth: "0" }, body: quota }))[0];
    expect(Number(available?.found["quota-available-bytes"])).toBeGreaterThan(0);
    expect(available?.missing.sort()).toEqual(["quota", "quotaused"]);
    const listed = resourcesOf(await send("PROPFIND", "/dav/", { headers: { depth: "1" }, body: propfind }));
    expect(listed.map(({ path }) => path)).toEqual(["/dav/", "/dav/a.txt"]);
    expect(listed[1]?.found).toMatchObject({
      getlastmodified: "Thu, 02 Jan 2020 03:04:05 GMT",
      getcontentlength: "5",
      resourcetype: "",
    });
    // Files that Finder looks for in every folder.
    for (const name of ["._.", ".DS_Store", "._a.txt", ".hidden", ".metadata_never_index_unless_rootfs"]) {
      expect((await send("PROPFIND", `/dav/${name}`, { headers: { depth: "0" }, body: propfind })).status).toBe(404);
    }
  });

  test("a file is copied by a lock, an upload without Content-Length, and the end of the lock", async () => {
    const account = await newClientAccount(server());
    const send = finder(server(), account);
    expect((await send("PUT", "/dav/new.txt", { headers: { "content-length": "0" }, body: "" })).status).toBe(201);
    await save(send, account, "/dav/new.txt", "content of unknown length");
    await save(send, account, "/dav/._new.txt", "attributes of Finder");
    const tree = await readServerTree(account);
    expect(tree.get("new.txt")?.content).toBe(digestOf("content of unknown length"));
    // Read by parts.
    const part = await send("GET", "/dav/new.txt", { headers: { range: "bytes=8-9" } });
    expect([part.status, part.text]).toEqual([206, "of"]);
    expect((await send("MKCOL", "/dav/untitled%20folder")).status).toBe(201);
    const destination = `${server().url}/dav/untitled%20folder/moved.txt`;
    expect((await send("MOVE", "/dav/new.txt", { headers: { destination } })).status).toBe(201);
    expect((await send("DELETE", "/dav/untitled%20folder")).status).toBe(204);
  });

  test("decomposed names find, change and rename the file that the API made", async () => {
    const account = await newClientAccount(server());
    const send = finder(server(), account);
    const id = await account.client.storedId("from the API", { name: "Übung é.txt" });
    const path = `/dav/${encodeURIComponent("Übung é.txt".normalize("NFD"))}`;
    const found = resourcesOf(await send("PROPFIND", path, { headers: { depth: "0" }, body: propfind }));
    // The address as it was asked for: sync clients compare it, too.
    expect(found[0]?.path).toBe(decodeURIComponent(path));
    expect(found[0]?.found["getcontentlength"]).toBe("12");
    expect((await send("GET", path)).text).toBe("from the API");
    await save(send, account, path, "changed in Finder");
    const destination = `${server().url}/dav/${encodeURIComponent("Änderung.txt".normalize("NFD"))}`;
    expect((await send("MOVE", path, { headers: { destination } })).status).toBe(201);
    const tree = await readServerTree(account);
    expect([...tree.keys()]).toEqual(["Änderung.txt".normalize("NFC")]);
    expect(tree.get("Änderung.txt".normalize("NFC"))).toMatchObject({ id, content: digestOf("changed in Finder") });
  });
});
