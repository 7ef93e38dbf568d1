import { describe, expect, test } from "bun:test";
import { eventually, expectStatus } from "../support/expect.ts";
import { registerDevice } from "../support/mobile.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";
import { connectDav } from "../support/webdav.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } });

const german = { "accept-language": "de-AT,de;q=0.9,en;q=0.5" };
const missing = "/api/files/file_00000000000000000000";

describe("the message of an error", () => {
  test("is in the language that the request accepts; the rest stays the same", async () => {
    const { client } = await server().signUp();
    const [english, translated] = [
      await client.get(missing),
      await client.request("GET", missing, { headers: german }),
    ];
    expect(english.string("error.message")).toBe("This file was not found. Check the ID, or reload the list.");
    expect(translated.string("error.message")).toBe(
      "Diese Datei wurde nicht gefunden. Prüfe die ID, oder lade die Liste neu.",
    );
    expect(translated.status).toBe(english.status);
    expect(translated.at("error.code")).toEqual(english.at("error.code"));
    expect(translated.at("error.details")).toEqual(english.at("error.details"));
  });

  test("is in English for other languages", async () => {
    const { client } = await server().signUp();
    for (const language of ["xx", "en-GB,de;q=0.5", "*", ";;,"]) {
      const response = await client.request("GET", missing, { headers: { "accept-language": language } });
      expect(response.string("error.message")).toStartWith("This file was not found.");
    }
  });

  test("is in the language that was chosen in the web app", async () => {
    const { client } = await server().signUp();
    const headers = { "accept-language": "en", cookie: "larder_language=de" };
    const response = await client.request("GET", missing, { headers });
    expect(response.string("error.message")).toStartWith("Diese Datei wurde nicht gefunden.");
  });

  test("contains names and numbers", async () => {
    const { client } = await server().signUp();
    await client.storedId("1", { name: "Fünf.txt" });
    const id = await client.storedId("2", { name: "Sechs.txt" });
    const response = await client.request("PUT", `/api/files/${id}`, { json: { name: "Fünf.txt" }, headers: german });
    expectStatus(response, 409);
    expect(response.string("error.message")).toStartWith("„Fünf.txt“ gibt es in diesem Ordner schon.");
    const folder = await client.folderId("Urlaub");
    await client.storedId("3", { fields: { folder: "/Urlaub" } });
    const deleted = await client.request("DELETE", `/api/files/folders/${folder}`, { headers: german });
    expect(deleted.string("error.message")).toStartWith("Der Ordner enthält 1 Element. Leere ihn zuerst");
  });

  test("explains values that are not valid, and methods that are not supported", async () => {
    const { client } = await server().signUp();
    const messages = [
      await client.request("POST", "/api/files/folders", { json: {}, headers: german }),
      await client.request("POST", "/api/files/folders", { json: { name: 1 }, headers: german }),
      await client.request("GET", "/api/files?limit=0", { headers: german }),
      await client.request("PATCH", "/api/auth/signin", { headers: german }),
    ].map((response) => response.string("error.message"));
    expect(messages).toEqual([
      "name ist ungültig: Das Feld fehlt. Die erlaubten Werte findest du unter /docs.",
      "name ist ungültig: Erwartet wird ein Text. Die erlaubten Werte findest du unter /docs.",
      "limit muss eine ganze Zahl von 1 bis 100 sein.",
      "PATCH wird an dieser Adresse nicht unterstützt. Verwende POST.",
    ]);
  });

  test("is translated in lists of results as well", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("1");
    const json = { fileIds: [id, "file_00000000000000000000"] };
    const response = await client.request("POST", "/api/files/trash", { json, headers: german });
    expectStatus(response, 200);
    expect(response.string("data.failed.0.error.message")).toStartWith("Diese Datei oder dieser Ordner wurde nicht");
  });

  test("of a stored result is in the language of each reader", async () => {
    const account = await server().signUp();
    const { client: device } = await registerDevice(server(), account);
    const operation = {
      id: "delete 1",
      type: "delete",
      priority: "normal",
      createdAt: new Date().toISOString(),
      fileId: "file_00000000000000000000",
    };
    expectStatus(await device.post("/api/mobile/queue/add", { operations: [operation] }), 200);
    const read = async (headers: Record<string, string>) =>
      (await device.request("GET", "/api/mobile/queue", { headers })).at("data.operations.0.error.message");
    // The queue runs operations in the background.
    await eventually("the operation failed", async () => (await read({})) !== undefined);
    expect(await read({})).toBe("The file was not found. Check the ID, or reload the list.");
    expect(await read(german)).toBe("Die Datei wurde nicht gefunden. Prüfe die ID, oder lade die Liste neu.");
  });

  test("says why something can't be restored", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("one");
    const at = (await client.get(`/api/files/${id}`)).string("data.createdAt");
    expectStatus(await client.putContent(id, "two"), 200);
    expectStatus(await client.delete(`/api/files/${id}/versions/1`), 200);
    const json = { folder: "/", at };
    const response = await client.request("POST", "/api/files/restore", { json, headers: german });
    expectStatus(response, 200);
    expect(response.at("data.skipped.0")).toMatchObject({
      reason: "content_gone",
      message: "Die frühere Version ist nicht mehr verfügbar. Stelle sie aus einer Sicherung wieder her.",
    });
  });

  test("is in the language of WebDAV clients", async () => {
    const dav = await connectDav(await server().signUp());
    const response = await dav.get("missing.txt", german);
    expect(response.status).toBe(404);
    expect(response.text).toContain("<s:message>An dieser Adresse gibt es keine Datei und keinen Ordner.</s:message>");
    expect((await dav.get("missing.txt")).text).toContain("There is no file or folder at this address.");
  });
});

testAllResponses(server);
