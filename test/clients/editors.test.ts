// How office programs, password managers and note apps save a file: what they save over must stay the same file, with its
// versions.
import { describe, expect, test } from "bun:test";
import { digestOf } from "../support/client.ts";
import { clientServer, dav, type DavOptions, newClientAccount, readServerTree } from "./support/account.ts";

const server = clientServer();

const lockBody =
  '<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>' +
  "<D:locktype><D:write/></D:locktype><D:owner>LibreOffice</D:owner></D:lockinfo>";

/** A new account, and its requests below /dav/. */
async function signedIn() {
  const account = await newClientAccount(server());
  const send = async (method: string, path: string, options: DavOptions = {}) =>
    dav(server(), account, method, `/dav/${path}`, options);
  const move = async (from: string, to: string, headers: Record<string, string> = {}) =>
    send("MOVE", from, { headers: { destination: `${server().url}/dav/${to}`, overwrite: "T", ...headers } });
  return { account, send, move };
}

describe("editors", () => {
  test("LibreOffice locks a document, saves it in place, and unlocks it", async () => {
    const { account, send } = await signedIn();
    const id = await account.client.storedId("draft", { name: "letter.odt" });
    const locked = await send("LOCK", "letter.odt", {
      headers: { depth: "0", timeout: "Second-180", "content-type": "application/xml" },
      body: lockBody,
    });
    expect(locked.status).toBe(200);
    const token = locked.header("lock-token");
    const refreshed = await send("LOCK", "letter.odt", { headers: { if: `(${token})`, timeout: "Second-180" } });
    expect(refreshed.status).toBe(200);
    // The page is refused as well.
    expect((await account.client.putContent(id, "from the page")).status).toBe(409);
    const saved = await send("PUT", "letter.odt", { headers: { if: `(${token})` }, body: "final" });
    expect(saved.status).toBe(204);
    expect((await send("UNLOCK", "letter.odt", { headers: { "lock-token": token } })).status).toBe(204);
    expect((await readServerTree(account)).get("letter.odt")).toMatchObject({
      id,
      version: 2,
      content: digestOf("final"),
    });
  });

  test("Office saves a temporary file over the locked document", async () => {
    const { account, send, move } = await signedIn();
    const id = await account.client.storedId("draft", { name: "report.docx", fields: { tags: "work" } });
    const locked = await send("LOCK", "report.docx", { headers: { depth: "0" }, body: lockBody });
    const token = locked.header("lock-token");
    expect((await send("PUT", "~WRD0001.tmp", { body: "final" })).status).toBe(201);
    expect((await move("~WRD0001.tmp", "report.docx")).status).toBe(423);
    const withToken = { if: `<${server().url}/dav/report.docx> (${token})` };
    expect((await move("~WRD0001.tmp", "report.docx", withToken)).status).toBe(204);
    expect((await send("UNLOCK", "report.docx", { headers: { "lock-token": token } })).status).toBe(204);
    const tree = await readServerTree(account);
    expect([...tree.keys()]).toEqual(["report.docx"]);
    expect(tree.get("report.docx")).toMatchObject({ id, version: 2, content: digestOf("final") });
    expect((await account.client.get(`/api/files/${id}`)).at("data.tags")).toEqual(["work"]);
    const first = await account.client.get(`/api/files/${id}/versions/1/download`);
    expect(first.text).toBe("draft");
  });

  test("an editor that moves the old file away, and the new one to its place, keeps both contents", async () => {
    const { account, send, move } = await signedIn();
    await account.client.stored("draft", { name: "report.xlsx" });
    expect((await send("PUT", "A1B2C3D4.tmp", { body: "final" })).status).toBe(201);
    expect((await move("report.xlsx", "E5F6.tmp")).status).toBe(201);
    expect((await move("A1B2C3D4.tmp", "report.xlsx")).status).toBe(201);
    expect((await send("DELETE", "E5F6.tmp")).status).toBe(204);
    const tree = await readServerTree(account);
    expect([...tree].map(([path, { content }]) => [path, content])).toEqual([["report.xlsx", digestOf("final")]]);
    const trash = await account.client.get("/api/files/trash?limit=100");
    expect(trash.strings("data.files", "name")).toEqual(["E5F6.tmp"]);
  });

  test("KeePass replaces its database by a temporary file", async () => {
    const { account, send, move } = await signedIn();
    const id = await account.client.storedId("one", { name: "passwords.kdbx" });
    for (const [index, content] of ["two", "three"].entries()) {
      expect((await send("PUT", "passwords.kdbx.tmp", { body: content })).status).toBe(201);
      expect((await move("passwords.kdbx.tmp", "passwords.kdbx")).status).toBe(204);
      const file = (await readServerTree(account)).get("passwords.kdbx");
      expect(file).toMatchObject({ id, version: index + 2, content: digestOf(content) });
    }
    expect([...(await readServerTree(account)).keys()]).toEqual(["passwords.kdbx"]);
  });

  test("Joplin stores and reads with its own If-None-Match", async () => {
    const { account, send } = await signedIn();
    const ignore = { "if-none-match": "JoplinIgnore-1700000000000-0.123" };
    expect((await send("MKCOL", "Joplin")).status).toBe(201);
    for (const body of ["note", "note, edited"]) {
      expect([201, 204]).toContain((await send("PUT", "Joplin/0a1b.md", { headers: ignore, body })).status);
      const read = await send("GET", "Joplin/0a1b.md", { headers: ignore });
      expect([read.status, read.text]).toEqual([200, body]);
    }
    const list = await send("PROPFIND", "Joplin", {
      headers: { depth: "1", ...ignore },
      body:
        '<?xml version="1.0" encoding="UTF-8"?><d:propfind xmlns:d="DAV:"><d:prop>' +
        "<d:getlastmodified/><d:resourcetype/></d:prop></d:propfind>",
    });
    expect(list.status).toBe(207);
    expect(list.text).toContain("0a1b.md");
    expect((await send("DELETE", "Joplin/0a1b.md")).status).toBe(204);
    expect((await send("DELETE", "Joplin/0a1b.md")).status).toBe(404);
    expect([...(await readServerTree(account)).keys()]).toEqual(["Joplin"]);
  });
});
