import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { randomContent } from "../support/client.ts";
import { expectClientError, expectError, expectStatus, sortedStatuses } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const key = () => ({ "idempotency-key": randomUUID() });

describe("an Idempotency-Key", () => {
  test("makes a repeated upload happen once, and repeats the first response", async () => {
    const { client } = await server().signUp();
    const headers = key();
    const first = await client.upload("content", { name: "a.txt", headers });
    const second = await client.upload("content", { name: "a.txt", headers });
    expectStatus(first, 201);
    expectStatus(second, 201);
    expect(second.json).toEqual(first.json);
    expect(await client.names()).toEqual(["a.txt"]);
    expect((await client.get("/api/users/usage")).at("data.storage")).toMatchObject({ files: 1, used: 7 });
  });

  test("makes a repeated PUT of content happen once", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("old");
    const headers = key();
    const first = await client.putContent(id, "new", headers);
    const second = await client.putContent(id, "new", headers);
    expectStatus(second, 200);
    expect(second.json).toEqual(first.json);
    expect((await client.get("/api/files")).list("data.files")).toMatchObject([{ version: 2 }]);
  });

  test("creates a folder once, although the name is taken at the second try", async () => {
    const { client } = await server().signUp();
    const headers = key();
    const body = { name: "docs", path: "/" };
    const first = await client.post("/api/files/folders", body, headers);
    const second = await client.post("/api/files/folders", body, headers);
    expectStatus(second, 201);
    expect(second.json).toEqual(first.json);
    expectError(await client.post("/api/files/folders", body, key()), 409, "name_taken");
  });

  test("makes a repeated copy happen once", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt" });
    const headers = key();
    const body = { fileIds: [id], destinationFolder: "/" };
    const first = await client.post("/api/files/copy", body, headers);
    const second = await client.post("/api/files/copy", body, headers);
    expectStatus(second, 201);
    expect(second.json).toEqual(first.json);
    expect(await client.names()).toEqual(["a (1).txt", "a.txt"]);
  });

  test("applies to a whole copy request, including its failures", async () => {
    // Only successful items were once remembered: failed ones were tried again, and the second response differed.
    const { client } = await server().signUp();
    const taken = await client.storedId("x", { name: "taken.txt" });
    const good = await client.storedId("y", { name: "good.txt" });
    const blocker = await client.storedId("z", { name: "taken.txt", fields: { folder: "/box" } });
    const headers = key();
    const unknown = "file_00000000000000000000";
    const body = { fileIds: [unknown, taken, good], destinationFolder: "/box", onConflict: "error" };
    const first = await client.post("/api/files/copy", body, headers);
    expectStatus(first, 201);
    expect(first.strings("data.copied", "sourceId")).toEqual([good]);
    expect(first.strings("data.failed", "id")).toEqual([unknown, taken]);
    expectStatus(await client.delete(`/api/files/${blocker}`), 200);
    const second = await client.post("/api/files/copy", body, headers);
    expectStatus(second, 201);
    expect(second.json).toEqual(first.json);
    expect(await client.names("/box")).toEqual(["good.txt"]);
  });

  test("is used up even if the first item of a copy fails", async () => {
    // It was once stored with the first item only: if that failed, another request with the key succeeded.
    const { client } = await server().signUp();
    const good = await client.storedId("y", { name: "good.txt" });
    const headers = key();
    const fileIds = ["file_00000000000000000000", good];
    expectStatus(await client.post("/api/files/copy", { fileIds, destinationFolder: "/box" }, headers), 201);
    const others = [
      { fileIds, destinationFolder: "/elsewhere" },
      { fileIds: [good], destinationFolder: "/box" },
      { fileIds, destinationFolder: "/box", onConflict: "error" },
      { fileIds, destinationFolder: "/box", preserveMetadata: false },
    ];
    for (const body of others) expectError(await client.post("/api/files/copy", body, headers), 409, "idempotency_key");
    expectError(await client.upload("x", { headers }), 409, "idempotency_key");
    expect(await client.names("/box")).toEqual(["good.txt"]);
    expect(await client.names()).toEqual(["box", "good.txt"]);
  });

  test("repeats the response even if the first request has used up the quota", async () => {
    // The quota was once checked before the key: a repeated upload was 413.
    const { client } = await server().addUser(["--quota", "2000"]);
    const [content, replacement] = [randomContent(1000), randomContent(1000)];
    const [forUpload, forContent] = [key(), key()];
    const uploaded = await client.upload(content, { name: "a.bin", headers: forUpload });
    expectStatus(uploaded, 201);
    const replaced = await client.putContent(uploaded.string("data.id"), replacement, forContent);
    expectStatus(replaced, 200);
    expect((await client.get("/api/users/usage")).number("data.storage.remaining")).toBe(0);
    expectError(await client.upload(content, { name: "a.bin", headers: key() }), 413, "quota_exceeded");
    const uploadedAgain = await client.upload(content, { name: "a.bin", headers: forUpload });
    expectStatus(uploadedAgain, 201);
    expect(uploadedAgain.at("data.id")).toBe(uploaded.at("data.id"));
    const replacedAgain = await client.putContent(uploaded.string("data.id"), replacement, forContent);
    expectStatus(replacedAgain, 200);
    expect(replacedAgain.json).toEqual(replaced.json);
    // A known key does not bypass the quota for other requests.
    const other = await client.upload(randomContent(1000), { name: "a.bin", headers: forUpload });
    expectError(other, 409, "idempotency_key");
    expect((await client.get("/api/users/usage")).number("data.storage.used")).toBe(2000);
  });

  test("is 409 idempotency_key for another request", async () => {
    const { client } = await server().signUp();
    const headers = key();
    const id = await client.storedId("x", { name: "a.txt", headers });
    const otherBytes = await client.upload("other content", { name: "a.txt", headers });
    expectError(otherBytes, 409, "idempotency_key");
    expectError(await client.upload("x", { name: "b.txt", headers }), 409, "idempotency_key");
    const elsewhere = await client.upload("x", { name: "a.txt", fields: { folder: "/other" }, headers });
    expectError(elsewhere, 409, "idempotency_key");
    expectError(await client.putContent(id, "x", headers), 409, "idempotency_key");
    expectError(await client.post("/api/files/folders", { name: "f", path: "/" }, headers), 409, "idempotency_key");
    const copy = { fileIds: [id], destinationFolder: "/" };
    expectError(await client.post("/api/files/copy", copy, headers), 409, "idempotency_key");
    expect(await client.names()).toEqual(["a.txt"]);
  });

  test("belongs to its account", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const headers = key();
    const first = await a.client.upload("x", { headers });
    const second = await b.client.upload("x", { headers });
    expectStatus(second, 201);
    expect(second.at("data.id")).not.toBe(first.at("data.id"));
    expect(await b.client.names()).toEqual(["file.txt"]);
  });

  test("creates one file for many requests at once", async () => {
    const { client } = await server().signUp();
    const headers = key();
    const uploads = await Promise.all(
      Array.from({ length: 6 }, () => client.upload("content", { name: "a.txt", headers })),
    );
    // Requests during the first one may be rejected; none may create a second file.
    for (const status of sortedStatuses(uploads)) expect([201, 409]).toContain(status);
    expect(new Set(uploads.filter((one) => one.status === 201).map((one) => one.string("data.id"))).size).toBe(1);
    expect(await client.names()).toEqual(["a.txt"]);
    expectStatus(await client.upload("content", { name: "a.txt", headers }), 201);
  });

  test("survives a restart and a crash", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const { client } = await own.signUp();
      const headers = key();
      const first = await client.upload("content", { name: "a.txt", headers });
      await own.kill9();
      await own.start();
      const second = await client.upload("content", { name: "a.txt", headers });
      expectStatus(second, 201);
      expect(second.at("data.id")).toBe(first.at("data.id"));
      expect(await client.names()).toEqual(["a.txt"]);
    });
  });

  test("is not used up by a rejected request without effect", async () => {
    const { client } = await server().signUp();
    const headers = key();
    expectClientError(await client.upload("x", { name: "a.txt", fields: { folder: "relative" }, headers }));
    expect(await client.names()).toEqual([]);
  });
});

testAllResponses(server);
