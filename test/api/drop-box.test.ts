import { describe, expect, test } from "bun:test";
import { type ApiResponse, checksumOf, type Client } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { field, file, form, formType, type Part } from "../support/multipart.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** Creates a drop box for a new folder. Returns its id, its token and the folder's id. */
async function createDropBox(client: Client, settings: object = {}) {
  const folder = await client.folderId("box");
  const created = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload", ...settings });
  expectStatus(created, 201);
  return { folder, id: created.string("data.id"), token: created.string("data.token") };
}

/** Sends a form to a drop box without credentials. */
async function sendToDropBox(token: string, parts: Part[], headers: Record<string, string> = {}): Promise<ApiResponse> {
  return server().visitor.request("POST", `/api/public/${token}/upload`, {
    body: form(parts),
    headers: { "content-type": formType, ...headers },
  });
}

describe("POST /api/public/{token}/upload", () => {
  test("stores the file for the owner, and confirms to the sender nothing but its arrival", async () => {
    const { client } = await server().signUp();
    const box = await createDropBox(client);
    const response = await sendToDropBox(box.token, [file("notes.txt", "hello"), field("sender", "Ana")]);
    expectStatus(response, 201);
    expect(response.at("data")).toEqual({ name: "notes.txt", size: 5, checksum: checksumOf("hello") });
    for (const [name, value] of [
      ["cache-control", "private, no-cache"],
      ["referrer-policy", "no-referrer"],
      ["x-robots-tag", "noindex"],
    ] as const)
      expect(response.header(name)).toBe(value);
    const list = await client.get("/api/files?folder=/box");
    expect(list.at("data.files.0")).toMatchObject({
      name: "notes.txt",
      folder: "/box",
      isPublic: false,
      metadata: { sender: "Ana" },
    });
    expect((await client.get(`/api/shares/${box.id}`)).at("data")).toMatchObject({ uploads: 1, uploadedBytes: 5 });
  });

  test("numbers taken names without revealing it", async () => {
    const { client } = await server().signUp();
    const { token } = await createDropBox(client);
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, index) => sendToDropBox(token, [file("a.txt", `${index}`)])),
    );
    for (const response of responses) expect(response.at("data.name")).toBe("a.txt");
    expect((await client.names("/box")).toSorted()).toEqual([
      "a (1).txt",
      "a (2).txt",
      "a (3).txt",
      "a (4).txt",
      "a.txt",
    ]);
  });

  test("ignores fields of the owner: folder, public link, tags, versions", async () => {
    const { client } = await server().signUp();
    await client.storedId("precious", { name: "a.txt", fields: { folder: "/box" } });
    const folder = (await client.get("/api/files")).string("data.files.0.id");
    const created = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload" });
    const response = await sendToDropBox(created.string("data.token"), [
      field("folder", "/elsewhere"),
      field("isPublic", "true"),
      field("tags", "mine"),
      field("onConflict", "version"),
      field("description", "mine"),
      field("metadata", '{"mine":"1"}'),
      file("a.txt", "mine"),
    ]);
    expectStatus(response, 201);
    const list = await client.get("/api/files?folder=/box");
    expect(list.strings("data.files", "name")).toEqual(["a (1).txt", "a.txt"]);
    expect(list.at("data.files.0")).toMatchObject({ isPublic: false, tags: [], metadata: {}, version: 1 });
    expect(list.at("data.files.1.version")).toBe(1);
    expect((await client.get("/api/files")).strings("data.files", "name")).toEqual(["box"]);
  });

  test("shows nothing of the folder's content", async () => {
    const { client } = await server().signUp();
    const { token } = await createDropBox(client, { label: "Homework" });
    const inside = await client.storedId("secret", { name: "secret.txt", fields: { folder: "/box" } });
    const { visitor } = server();
    const info = await visitor.get(`/api/public/${token}`);
    expect(info.at("data")).toMatchObject({ name: "box", permissions: "upload", label: "Homework" });
    expect(Object.keys(info.at("data") as object)).not.toContain("itemCount");
    for (const path of ["files", "download", `download?fileId=${inside}`, `download?fileId=${inside}&thumbnail=true`])
      expectError(await visitor.get(`/api/public/${token}/${path}`), 403, "share_permission");
    expectStatus(await visitor.get(`/s/${token}/download?fileId=${inside}`), 403);
    const page = await visitor.get(`/s/${token}?fileId=${inside}`);
    expect(page.text).toContain("Homework");
    expect(page.text).not.toContain("secret");
  });

  test("is rejected by links that are no drop boxes", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("f");
    const created = await client.post(`/api/files/folders/${folder}/shares`, {});
    expectError(await sendToDropBox(created.string("data.token"), [file("a", "x")]), 403, "share_permission");
    expectError(await sendToDropBox("A".repeat(32), [file("a", "x")]), 404, "not_found");
    expect(await client.names("/f")).toEqual([]);
  });

  test("rejects malformed forms as an upload does", async () => {
    const { client } = await server().signUp();
    const { token } = await createDropBox(client);
    expectError(await sendToDropBox(token, []), 400);
    expectError(await sendToDropBox(token, [field("sender", "x")]), 400, "invalid_field", "file");
    expectError(await sendToDropBox(token, [file("a", "1"), file("b", "2")]), 400, "invalid_field", "file");
    expectError(await sendToDropBox(token, [file("..", "1")]), 400, "invalid_path");
    expectError(
      await sendToDropBox(token, [field("sender", "x".repeat(101)), file("a", "1")]),
      400,
      "invalid_field",
      "sender",
    );
    expectError(
      await sendToDropBox(token, [field("checksum", checksumOf("2")), file("a", "1")]),
      400,
      "checksum_mismatch",
    );
    const json = await server().visitor.post(`/api/public/${token}/upload`, { file: "x" });
    expectError(json, 415, "unsupported_media_type");
    expect(await client.names("/box")).toEqual([]);
  });

  test("is limited to the total size that the owner set, even for concurrent uploads", async () => {
    const { client } = await server().signUp();
    const box = await createDropBox(client, { maxUploadBytes: 1000 });
    expect((await server().visitor.get(`/api/public/${box.token}`)).at("data.maxFileSize")).toBe(1000);
    expectError(await sendToDropBox(box.token, [file("large", "x".repeat(1001))]), 413, "file_too_large");
    expectError(await sendToDropBox(box.token, [file("larger", "x".repeat(200_000))]), 413, "file_too_large");
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => sendToDropBox(box.token, [file(`${index}`, "x".repeat(300))])),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(responses.filter(({ status }) => status === 413)).toHaveLength(5);
    expect(await client.names("/box")).toHaveLength(3);
    expect((await client.get(`/api/shares/${box.id}`)).at("data.uploadedBytes")).toBe(900);
    expect((await server().visitor.get(`/api/public/${box.token}`)).at("data.maxFileSize")).toBe(100);
  });

  test("is limited by the owner's plan and quota", async () => {
    await withServer({ env: { LARDER_PLANS_PRO_MAX_FILE_SIZE: "1KB", LARDER_DEFAULT_PLAN: "pro" } }, async (small) => {
      const { client } = await small.signUp();
      const folder = await client.folderId("box");
      const created = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload" });
      const response = await small.visitor.request("POST", `/api/public/${created.string("data.token")}/upload`, {
        body: form([file("a", "x".repeat(1025))]),
        headers: { "content-type": formType },
      });
      expectError(response, 413, "file_too_large");
    });
  });

  test("does not reveal the owner's usage when there is not enough space", async () => {
    // A sender that lost a race for the last bytes once learned how many were left.
    const env = { LARDER_PLANS_PRO_QUOTA: "10KB", LARDER_DEFAULT_PLAN: "pro" };
    await withServer({ env }, async (small) => {
      const { client } = await small.signUp();
      const folder = await client.folderId("box");
      const created = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload" });
      const send = () =>
        small.visitor.request("POST", `/api/public/${created.string("data.token")}/upload`, {
          body: form([file("a", "x".repeat(3000))]),
          headers: { "content-type": formType },
        });
      const responses = await Promise.all(Array.from({ length: 12 }, send));
      expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
      for (const response of responses.filter(({ status }) => status !== 201)) {
        expectError(response, 413, "quota_exceeded");
        expect(response.at("error.details")).toEqual({ reason: "quota_exceeded", limit: 10_240, plan: "pro" });
        expect(response.string("error.message")).not.toMatch(/\d/);
      }
    });
  });

  test("accepts nothing for an owner who has become a viewer", async () => {
    const { client, id } = await server().signUp();
    const { token } = await createDropBox(client);
    expectStatus(await sendToDropBox(token, [file("a", "x")]), 201);
    await server().change(id, { role: "viewer" });
    const send = () => sendToDropBox(token, [file("b", "x")]);
    await eventually("the drop box is closed", async () => (await send()).status === 403);
    for (const response of [await send(), await server().visitor.get(`/api/public/${token}`)])
      expectError(response, 403, "share_permission");
    expectStatus(await server().visitor.get(`/s/${token}`), 403);
  });

  test("follows its folder, and respects password, expiry and revocation", async () => {
    const { client } = await server().signUp();
    const box = await createDropBox(client, { password: "open sesame" });
    expectError(await sendToDropBox(box.token, [file("a", "1")]), 401, "password_required");
    const unlocked = await server().visitor.post(`/api/public/${box.token}/unlock`, { password: "open sesame" });
    const grant = { "x-share-grant": unlocked.string("data.grant") };
    await client.put(`/api/files/folders/${box.folder}`, { name: "renamed" });
    expectStatus(await sendToDropBox(box.token, [file("a", "1")], grant), 201);
    expect(await client.names("/renamed")).toEqual(["a"]);
    await client.delete(`/api/shares/${box.id}`);
    expectError(await sendToDropBox(box.token, [file("b", "1")], grant), 404, "not_found");
    expect(await client.names("/")).toEqual(["renamed"]);
  });
});

testAllResponses(server);
