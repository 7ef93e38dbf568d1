import { beforeAll, describe, test } from "bun:test";
import type { Account, Client } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

const init = { files: [{ localId: "1", name: "a.bin", size: 1, mimeType: "image/jpeg", folder: "/" }] };
const operation = {
  id: "1",
  type: "delete",
  priority: "high",
  createdAt: "2026-01-01T00:00:00.000Z",
  fileId: "file_x",
};

/** Every endpoint for devices with an otherwise valid request, and whether it changes files. */
const endpoints: [method: string, path: string, json: unknown, isWriting: boolean][] = [
  ["GET", "/api/mobile/devices", undefined, false],
  ["PUT", "/api/mobile/devices/phone/settings", { wifiOnly: true }, false],
  ["GET", "/api/mobile/sync/status", undefined, false],
  ["GET", "/api/mobile/sync", undefined, false],
  ["POST", "/api/mobile/sync/files", { localChanges: [] }, true],
  ["POST", "/api/mobile/conflicts/resolve", { conflicts: [] }, true],
  ["POST", "/api/mobile/upload", {}, true],
  ["POST", "/api/mobile/upload/init", init, true],
  ["POST", "/api/mobile/upload/progress", { uploadId: "upl_x", status: "paused" }, true],
  ["POST", "/api/mobile/upload/complete", { uploadId: "upl_x" }, true],
  ["GET", "/api/mobile/upload/upl_x", undefined, false],
  ["DELETE", "/api/mobile/upload/upl_x", undefined, true],
  ["POST", "/api/mobile/queue/add", { operations: [operation] }, true],
  ["GET", "/api/mobile/queue", undefined, false],
  ["POST", "/api/mobile/notifications/register", { deviceId: "phone", preferences: { uploads: true } }, false],
  ["GET", "/api/mobile/notifications", undefined, false],
  ["POST", "/api/mobile/notifications/read", { all: true }, false],
  ["GET", "/api/mobile/notifications/config", undefined, false],
  ["POST", "/api/mobile/push", { title: "t", body: "b" }, true],
  ["POST", "/api/mobile/devices/phone/rewind", { since: "2026-01-01T00:00:00.000Z", dryRun: true }, true],
  ["GET", "/api/mobile/devices/phone/holds", undefined, false],
  ["GET", "/api/mobile/files/file_x/durability", undefined, false],
  ["POST", "/api/mobile/files/durability", { fileIds: ["file_x"] }, false],
];

let web: Account;
let viewer: Client;

beforeAll(async () => {
  web = await server().addUser([]);
  const reader = await server().addUser(["--role", "viewer"]);
  viewer = (await registerDevice(server(), reader, "phone")).client;
});

describe("without a token and with a token of the web", () => {
  test.each(endpoints)("%s %s is rejected", async (method, path, json) => {
    const options = json === undefined ? {} : { json };
    expectError(await server().visitor.request(method, path, options), 401, "missing_token");
    expectError(await web.client.request(method, path, options), 401, "invalid_token");
  });
});

describe("for a viewer's device", () => {
  test.each(endpoints.filter(([, , , isWriting]) => isWriting))("%s %s is rejected", async (method, path, json) => {
    expectError(await viewer.request(method, path, json === undefined ? {} : { json }), 403, "role");
  });
});

test("a viewer's phone reads changes, and manages its own device", async () => {
  expectStatus(await viewer.get("/api/mobile/sync/status"), 200);
  expectStatus(await viewer.put("/api/mobile/devices/phone/settings", { wifiOnly: true }), 200);
  expectStatus(await viewer.get("/api/mobile/notifications"), 200);
});

testAllResponses(server);
