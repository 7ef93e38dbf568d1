// The requests that the Windows Explorer sends (WebClient, also named MiniRedir), in its order and with its headers.
import { describe, expect, test } from "bun:test";
import { digestOf } from "../support/client.ts";
import { clientServer, dav, type DavOptions, newClientAccount, readServerTree } from "./support/account.ts";
import { resourcesOf } from "./support/multistatus.ts";

const server = clientServer();
const agent = "Microsoft-WebDAV-MiniRedir/10.0.19045";

const lockBody =
  '<?xml version="1.0" encoding="utf-8" ?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>' +
  "<D:locktype><D:write/></D:locktype><D:owner><D:href>PC\\Ada</D:href></D:owner></D:lockinfo>";
const times =
  '<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set>' +
  "<D:prop><Z:Win32CreationTime>Fri, 06 Mar 2020 07:08:09 GMT</Z:Win32CreationTime>" +
  "<Z:Win32LastAccessTime>Fri, 06 Mar 2020 07:08:10 GMT</Z:Win32LastAccessTime>" +
  "<Z:Win32LastModifiedTime>Fri, 06 Mar 2020 07:08:11 GMT</Z:Win32LastModifiedTime>" +
  "<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>";

describe("Windows Explorer", () => {
  test("a drive is connected, and a file is saved with its times", async () => {
    const account = await newClientAccount(server());
    const send = async (method: string, path: string, { headers = {}, body }: DavOptions = {}) =>
      dav(server(), account, method, path, {
        headers: { "user-agent": agent, translate: "f", ...headers },
        ...(body === undefined ? {} : { body }),
      });
    // Windows asks the root of the host, without credentials, before it asks anything else.
    for (const path of ["/", "/dav", "/dav/"]) {
      const options = await fetch(server().url + path, {
        method: "OPTIONS",
        headers: { "user-agent": agent, translate: "f" },
      });
      expect(options.status).toBe(200);
      expect(options.headers.get("ms-author-via")).toBe("DAV");
      expect(options.headers.get("dav")?.split(/, */)).toContainValues(["1", "2"]);
    }
    expect((await fetch(`${server().url}/dav`, { method: "PROPFIND" })).headers.get("www-authenticate")).toContain(
      "Basic",
    );
    // No body: all properties. No trailing slash.
    const root = resourcesOf(await send("PROPFIND", "/dav", { headers: { depth: "0", "content-length": "0" } }));
    expect(root[0]?.found["resourcetype"]).toContain("collection");
    expect((await send("PROPFIND", "/dav/desktop.ini", { headers: { depth: "0" } })).status).toBe(404);
    expect((await send("PROPFIND", "/dav/New%20text.txt", { headers: { depth: "0" } })).status).toBe(404);

    expect((await send("PUT", "/dav/New%20text.txt", { headers: { "content-length": "0" }, body: "" })).status).toBe(
      201,
    );
    // Windows sends no Depth with LOCK.
    const locked = await send("LOCK", "/dav/New%20text.txt", {
      headers: { timeout: "Second-3600", "content-type": 'text/xml; charset="utf-8"' },
      body: lockBody,
    });
    expect(locked.status).toBe(200);
    const token = locked.header("lock-token");
    expect(locked.text).toContain(token.slice(1, -1));
    const withToken = { if: `(${token})` };
    // Another program is refused while the lock exists.
    expect((await dav(server(), account, "PUT", "/dav/New%20text.txt", { body: "other" })).status).toBe(423);
    expect((await send("HEAD", "/dav/New%20text.txt", { headers: withToken })).status).toBe(200);
    expect((await send("PUT", "/dav/New%20text.txt", { headers: withToken, body: "hello, Windows" })).status).toBe(204);
    const patched = await send("PROPPATCH", "/dav/New%20text.txt", {
      headers: { ...withToken, "content-type": 'text/xml; charset="utf-8"' },
      body: times,
    });
    expect(patched.status).toBe(207);
    expect(patched.text).not.toMatch(/HTTP\/1\.1 [45]/);
    expect((await send("UNLOCK", "/dav/New%20text.txt", { headers: { "lock-token": token } })).status).toBe(204);

    const listed = resourcesOf(await send("PROPFIND", "/dav", { headers: { depth: "1", "content-length": "0" } }));
    const file = listed.find(({ path }) => path.endsWith("New text.txt"));
    expect(file?.found["getlastmodified"]).toBe("Fri, 06 Mar 2020 07:08:11 GMT");
    const destination = `${server().url}/dav/Renamed.txt`;
    expect((await send("MOVE", "/dav/New%20text.txt", { headers: { destination, overwrite: "F" } })).status).toBe(201);
    expect((await readServerTree(account)).get("Renamed.txt")?.content).toBe(digestOf("hello, Windows"));
    expect((await send("DELETE", "/dav/Renamed.txt")).status).toBe(204);
  });
});
