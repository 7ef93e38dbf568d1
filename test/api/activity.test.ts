import { describe, expect, test } from "bun:test";
import type { Client } from "../support/client.ts";
import { eventually, expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { registerDevice } from "../support/mobile.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

async function listActivity(client: Client, id: string, query = ""): Promise<unknown[]> {
  const response = await client.get(`/api/files/${id}/activity${query}`);
  expectStatus(response, 200);
  return response.list("data.activity");
}

const listKinds = (entries: readonly unknown[]) => entries.map((entry) => String(Reflect.get(Object(entry), "kind")));

describe("GET /api/files/{id}/activity", () => {
  test("lists creation, new content, renames, moves, trash and shares, newest first", async () => {
    const account = await server().signUp({ name: "Ada" });
    const { client } = account;
    const id = await client.storedId("one", { name: "a.txt", fields: { folder: "/from" } });
    expectStatus(await client.putContent(id, "two"), 200);
    expectStatus(await client.put(`/api/files/${id}`, { name: "b.txt" }), 200);
    expectStatus(await client.post("/api/files/move", { fileIds: [id], destinationFolder: "/to" }), 200);
    expectStatus(await client.post("/api/files/trash", { fileIds: [id] }), 200);
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [id] }), 200);
    expectStatus(await client.post(`/api/files/${id}/shares`), 201);
    const entries = await listActivity(client, id);
    const ada = { id: account.id, name: "Ada" };
    const at = expect.stringMatching(timestampPattern);
    expect(entries).toHaveLength(7);
    // Entries of the same millisecond have no defined order.
    expect(entries).toEqual(
      expect.arrayContaining([
        { kind: "shared", at, by: ada, device: null, share: "link" },
        { kind: "restored", at, by: null, device: null, to: { name: "b.txt", folder: "/to" } },
        { kind: "trashed", at, by: null, device: null, from: { name: "b.txt", folder: "/to" } },
        {
          kind: "moved",
          at,
          by: null,
          device: null,
          from: { name: "b.txt", folder: "/from" },
          to: { name: "b.txt", folder: "/to" },
        },
        {
          kind: "renamed",
          at,
          by: null,
          device: null,
          from: { name: "a.txt", folder: "/from" },
          to: { name: "b.txt", folder: "/from" },
        },
        { kind: "content", at, by: ada, device: null, version: 2 },
        { kind: "created", at, by: ada, device: null },
      ]),
    );
    const times = entries.map((entry) => String(Reflect.get(Object(entry), "at")));
    expect(times).toEqual(times.toSorted().toReversed());
  });

  test("lists the activity of a folder, in pages", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("album");
    for (const name of ["b", "c", "d"]) expectStatus(await client.put(`/api/files/folders/${id}`, { name }), 200);
    const response = await client.get(`/api/files/${id}/activity?limit=3`);
    expect(listKinds(response.list("data.activity"))).toEqual(["renamed", "renamed", "renamed"]);
    expect(response.at("data.pagination")).toEqual({
      page: 1,
      limit: 3,
      total: 4,
      totalPages: 2,
      hasNext: true,
      hasPrev: false,
    });
    expect(listKinds(await listActivity(client, id, "?limit=3&page=2"))).toEqual(["created"]);
  });

  test("lists a deleted version, from the audit log", async () => {
    const account = await server().signUp({ name: "Ada" });
    const { client } = account;
    const id = await client.storedId("one");
    expectStatus(await client.putContent(id, "two"), 200);
    expectStatus(await client.delete(`/api/files/${id}/versions/1`), 200);
    let kinds: string[] = [];
    await eventually("the audit log contains the deletion", async () => {
      kinds = listKinds(await listActivity(client, id));
      return kinds.includes("version_deleted");
    });
    expect(kinds.toSorted()).toEqual(["content", "created", "version_deleted"]);
  });

  test("shows the uploading device to the owner, and not to a guest", async () => {
    const [owner, guest] = [await server().signUp(), await server().signUp()];
    const device = await registerDevice(server(), owner);
    const id = await device.client.storedId("from a phone");
    expectStatus(await owner.client.post(`/api/files/${id}/shares`, { user: guest.email }), 201);
    const [created] = (await listActivity(owner.client, id)).slice(-1);
    expect(created).toMatchObject({ kind: "created", device: { id: device.deviceId } });
    expect(await listActivity(guest.client, id)).toEqual([
      { kind: "created", at: expect.any(String), by: expect.any(Object), device: null },
    ]);
  });

  test("shows a guest only new content, and neither the folder nor other recipients", async () => {
    const [owner, guest] = [await server().signUp({ name: "Owner" }), await server().signUp()];
    const id = await owner.client.storedId("one", { name: "a.txt", fields: { folder: "/secret place" } });
    expectStatus(await owner.client.put(`/api/files/${id}`, { name: "b.txt" }), 200);
    expectStatus(await owner.client.putContent(id, "two"), 200);
    expectStatus(await owner.client.post(`/api/files/${id}/shares`, { user: guest.email }), 201);
    const response = await guest.client.get(`/api/files/${id}/activity`);
    expect(listKinds(response.list("data.activity")).toSorted()).toEqual(["content", "created"]);
    expect(response.text).not.toContain("secret");
  });

  test("is 404 for other users, administrators and unknown ids", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("one");
    const [stranger, admin] = [await server().signUp(), await server().addUser(["--admin"])];
    expectError(await stranger.client.get(`/api/files/${id}/activity`), 404, "not_found");
    expectError(await admin.client.get(`/api/files/${id}/activity`), 404, "not_found");
    expectError(await client.get("/api/files/file_00000000000000000000/activity"), 404, "not_found");
    expectError(await client.get(`/api/files/${id}/activity?limit=101`), 400, "invalid_field");
  });
});

testAllResponses(server);
