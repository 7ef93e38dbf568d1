import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shareWith, soonExpiry, waitForExpiry } from "../support/account-shares.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { asObject } from "../support/openapi.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer } from "../support/server.ts";
import { names, search, suggestions, untilFound } from "../support/text-search.ts";

const server = sharedServer({ hasAccounts: true });

describe("GET /api/files/search: contents", () => {
  test("finds a file by words in its text, and shows them in a snippet", async () => {
    const { client } = await server().signUp();
    await client.storedId("The quick brown fox\njumps over the pumpernickel, says Müller.", { name: "a.txt" });
    const response = await untilFound(client, "pumpernickel");
    expect(response.at("data.files.0.matches.0.kind")).toBe("content");
    expect(response.at("data.files.0.matches.0.snippet")).toEqual([
      { text: "The quick brown fox jumps over the ", isMatch: false },
      { text: "pumpernickel", isMatch: true },
      { text: ", says Müller.", isMatch: false },
    ]);
    expect(await names(client, "PUMPER muller")).toEqual(["a.txt"]);
    expect(await names(client, '"quick brown fox jumps"')).toEqual(["a.txt"]);
    expect(await names(client, '"brown quick"')).toEqual([]);
    expect(await names(client, "content:pumpernickel")).toEqual(["a.txt"]);
    expect(await names(client, "name:pumpernickel")).toEqual([]);
    expect(await names(client, "pumpernickel -fox")).toEqual([]);
    expect(await names(client, "pumpernickel type:image")).toEqual([]);
    expect(await names(client, "pumpernickel ext:txt")).toEqual(["a.txt"]);
    // One word in the text, the other in the name.
    expect(await names(client, "pumpernickel a.txt")).toEqual(["a.txt"]);
  });

  test("finds words in scripts without spaces, with accents, and in Arabic with vowel signs", async () => {
    const { client } = await server().signUp();
    const texts: [string, string, string[]][] = [
      ["ja.txt", "私は昨日東京都の図書館で本を読みました。", ["図書館", "東京", '"東京都"', "本"]],
      ["zh.txt", "中华人民共和国的首都是北京", ["首都", "北京", "人民共和"]],
      ["th.txt", "สวัสดีครับ ผมชอบอ่านหนังสือที่ห้องสมุด", ["หนังสือ", "ห้องสมุด"]],
      ["ko.txt", "도서관에서 책을 읽었습니다", ["도서관", "도서"]],
      ["ar.txt", "ذهبتُ إلى المَكْتَبة أمس", ["المكتبة"]],
      ["de.txt", "Donaudampfschifffahrt in Köln, große Straße", ["donaudampf", "koln", "KÖLN", "strasse", "Straße"]],
      ["decomposed.txt", "Cafe\u0301 cre\u0300me", ["café", "creme"]],
    ];
    for (const [name, text] of texts) await client.storedId(text, { name });
    for (const [name, , words] of texts) {
      for (const word of words) {
        const response = await untilFound(client, word);
        expect(response.at("data.files.0.name")).toBe(name);
        const parts = response.list("data.files.0.matches.0.snippet");
        expect(parts.filter((part) => asObject(part)?.["isMatch"] === true)).not.toBeEmpty();
      }
    }
    expect(await names(client, "京東")).toEqual([]);
    expect(await names(client, "都北")).toEqual([]);
  });

  test("finds a long phrase only as a whole", async () => {
    const { client } = await server().signUp();
    const numbers = Array.from({ length: 40 }, (_, at) => `langsatz${at}`);
    await client.storedId(numbers.join(" "), { name: "whole.txt" });
    await client.storedId(numbers.with(35, "other").join(", "), { name: "other.txt" });
    await untilFound(client, "langsatz0", 2);
    expect(await names(client, `"${numbers.join(" ")}"`)).toEqual(["whole.txt"]);
  });

  test("ranks names before contents, and finds what changed under its new words only", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("zanzibar and madagascar", { name: "notes.txt" });
    await untilFound(client, "madagascar");
    await client.storedId("nothing", { name: "zanzibar.txt" });
    expect(await names(client, "zanzibar")).toEqual(["zanzibar.txt", "notes.txt"]);
    expectStatus(await client.putContent(id, "only seychelles now"), 200);
    await untilFound(client, "seychelles");
    expect(await names(client, "madagascar")).toEqual([]);
    expect(await suggestions(client, "madagas")).toEqual([]);
  });

  test("suggests names, tags and words, and nothing for a filter", async () => {
    const { client } = await server().signUp();
    await client.folderId("marmalade recipes");
    await client.storedId("marvellous marzipan, Märchen, marzipan", {
      name: "marble.txt",
      fields: { tags: "Marathon" },
    });
    await untilFound(client, "marzipan");
    const found = await client.get("/api/files/search/suggestions?q=mar");
    const all = found
      .list("data.suggestions")
      .map((one) => `${String(asObject(one)?.["kind"])} ${String(asObject(one)?.["text"])}`);
    expect(all.toSorted()).toEqual([
      "file marble.txt",
      "folder marmalade recipes",
      "tag Marathon",
      "word marchen",
      "word marvellous",
      "word marzipan",
    ]);
    expect(await suggestions(client, "type:mar")).toEqual([]);
    expect(await suggestions(client, '"')).toEqual([]);
    expect(await suggestions(client, "")).toEqual([]);
    expectStatus(await client.get("/api/files/search/suggestions"), 200);
  });
});

describe("contents of others", () => {
  test("another account gets no hit, no count and no suggestion of a text, also of the same bytes in its trash", async () => {
    const owner = await server().signUp();
    const attacker = await server().signUp();
    await owner.client.storedId("the secret word is xylofoonspeler", { name: "a.txt" });
    await untilFound(owner.client, "xylofoonspeler");
    for (const q of ["xylofoonspeler", "xylofoon", "content:xylofoon", '"secret word is"', "-nothing xylofoon"]) {
      const response = await search(attacker.client, q);
      expect(response.at("data.files")).toEqual([]);
      expect(response.at("data.pagination.total")).toBe(0);
    }
    expect(await suggestions(attacker.client, "xylof")).toEqual([]);
    expect(await suggestions(owner.client, "xylof")).toEqual(["xylofoonspeler"]);
    // The same content: the text is in the index once.
    const own = await attacker.client.storedId("the secret word is xylofoonspeler", { name: "b.txt" });
    expect(await names(attacker.client, "xylofoonspeler")).toEqual(["b.txt"]);
    expectStatus(await attacker.client.delete(`/api/files/${own}`), 200);
    expect(await names(attacker.client, "xylofoonspeler")).toEqual([]);
    expect(await suggestions(attacker.client, "xylof")).toEqual([]);
    expect(await names(owner.client, "xylofoonspeler")).toEqual(["a.txt"]);
  });

  test("a received folder is searched with the paths of the share, and nothing beside it", async () => {
    const owner = await server().signUp({ name: "Olga Owner" });
    const guest = await server().signUp();
    const folder = await owner.client.folderId("trips", "/above");
    await owner.client.folderId("days", "/above/trips");
    await owner.client.storedId("we saw a kookaburra", {
      name: "monday.txt",
      fields: { folder: "/above/trips/days", isPublic: "true" },
    });
    await owner.client.storedId("kookaburra too, and a wombatburger", {
      name: "hidden.txt",
      fields: { folder: "/above" },
    });
    await untilFound(owner.client, "kookaburra", 2);
    expect(await names(guest.client, "kookaburra")).toEqual([]);
    const share = await shareWith(owner.client, folder, guest);
    for (const q of ["kookaburra", "monday", "kookaburra monday", "kookaburra ext:txt"]) {
      const response = await search(guest.client, q);
      expect(response.at("data.pagination.total")).toBe(1);
      const [file] = response.list("data.files");
      expect(file).toMatchObject({
        name: "monday.txt",
        folder: "/days",
        share,
        owner: { name: "Olga Owner" },
        isPublic: false,
      });
    }
    expect(await names(guest.client, "trips")).toEqual(["trips"]);
    expect(await suggestions(guest.client, "kook")).toEqual(["kookaburra"]);
    for (const q of ["wombatburger", "hidden", "above"]) expect(await names(guest.client, q)).toEqual([]);
    expect(await suggestions(guest.client, "wombat")).toEqual([]);
    // What the owner published, and where, is not shown.
    expect(await names(guest.client, "kookaburra is:public")).toEqual([]);
    expect(await names(guest.client, "kookaburra in:/")).toEqual([]);
    expectStatus(await owner.client.delete(`/api/shares/${share}`), 200);
    expect(await names(guest.client, "kookaburra")).toEqual([]);
    expect(await names(guest.client, "monday")).toEqual([]);
    expect(await suggestions(guest.client, "kook")).toEqual([]);
  });

  test("a share that expired is not searched", async () => {
    const owner = await server().signUp();
    const guest = await server().signUp();
    const file = await owner.client.storedId("a rare quokkaphone", { name: "q.txt" });
    await untilFound(owner.client, "quokkaphone");
    const expiresAt = soonExpiry();
    await shareWith(owner.client, file, guest, { expiresAt });
    expect(await names(guest.client, "quokkaphone")).toEqual(["q.txt"]);
    await waitForExpiry(expiresAt);
    expect(await names(guest.client, "quokkaphone")).toEqual([]);
    expect(await suggestions(guest.client, "quokka")).toEqual([]);
  });

  test("a visitor gets nothing", async () => {
    expectError(await server().visitor.get("/api/files/search/suggestions?q=a"), 401);
  });
});

describe("the index", () => {
  /** Whether any file of the index contains a word, also in pages that are free. */
  function hasBytes(directory: string, word: string): boolean {
    return readdirSync(directory)
      .filter((name) => name.startsWith("text-index.db"))
      .some((name) => readFileSync(join(directory, name)).includes(word));
  }

  function untilGone(directory: string, word: string): Promise<void> {
    return eventually(`${word} leaves the index`, () => !hasBytes(directory, word));
  }

  test("loses the words of a text when its last file is deleted, and gets them back from the trash", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const { client } = await own.signUp();
      const other = await own.signUp();
      const text = `${"common words of a long text ".repeat(2000)} zyzzyvaeword`;
      const id = await client.storedId(text, { name: "a.txt", fields: { folder: "/docs" } });
      const copy = await other.client.storedId(text, { name: "b.txt" });
      await untilFound(client, "zyzzyvaeword");
      expect(hasBytes(own.dataDir, "zyzzyvaeword")).toBe(true);
      expectStatus(await client.post("/api/files/trash", { fileIds: [id] }), 200);
      expect(await names(client, "zyzzyvaeword")).toEqual([]);
      expect(await names(other.client, "zyzzyvaeword")).toEqual(["b.txt"]);
      expectStatus(await other.client.delete(`/api/files/${copy}`), 200);
      await untilGone(own.dataDir, "zyzzyvaeword");
      expectStatus(await client.post("/api/files/trash/restore", { fileIds: [id] }), 200);
      await untilFound(client, "zyzzyvaeword");
    });
  });

  test("is read again after a crash, and after its file was damaged or deleted", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const { client } = await own.signUp();
      for (let n = 0; n < 20; n++) await client.storedId(`text ${n} gargoylefish`, { name: `${n}.txt` });
      await own.kill9();
      await own.start();
      await untilFound(client, "gargoylefish", 20);
      await own.kill9();
      const path = join(own.dataDir, "text-index.db");
      writeFileSync(path, "this is not a database at all".repeat(1000));
      rmSync(`${path}-wal`, { force: true });
      await own.start();
      await untilFound(client, "gargoylefish", 20);
      await own.stop();
      rmSync(path);
      await own.start();
      await untilFound(client, "gargoylefish", 20);
    });
  });

  test("reads files again whose text it dropped: for snippets, phrases, and to remove their words", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const { client } = await own.signUp();
      const html = "<html><body><p>the zyzzyvaeword is in <b>this page</b></p></body></html>";
      const id = await client.storedId(html, { name: "a.html" });
      await untilFound(client, "zyzzyvaeword");
      await own.stop();
      const index = new Database(join(own.dataDir, "text-index.db"));
      expect(index.query("DELETE FROM stored").run().changes).toBe(1);
      index.run("UPDATE texts SET is_stored = 0");
      index.close();
      await own.start();
      // A search waits 1.5 seconds for the text, which a busy machine may need.
      const firstMatch = async () => (await search(client, "zyzzyvaeword")).at("data.files.0.matches.0.snippet.1");
      await eventually("the text is read again", async () => (await firstMatch()) !== undefined);
      expect(await firstMatch()).toEqual({ text: "zyzzyvaeword", isMatch: true });
      expect(await names(client, '"is in this page"')).toEqual(["a.html"]);
      expect(await names(client, '"this is in"')).toEqual([]);
      // A start later, the text is not in memory either.
      await own.stop();
      await own.start();
      expectStatus(await client.post("/api/files/trash", { fileIds: [id] }), 200);
      await untilGone(own.dataDir, "zyzzyvaeword");
      expectStatus(await client.post("/api/files/trash/restore", { fileIds: [id] }), 200);
      await untilFound(client, "zyzzyvaeword");
    });
  });

  test("is built again if a dropped text is another when it is read again", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const { client } = await own.signUp();
      const change = async () => {
        await own.stop();
        const index = new Database(join(own.dataDir, "text-index.db"));
        index.run("DELETE FROM stored");
        index.run("UPDATE segments SET hash = hash + 1");
        index.close();
        await own.start();
      };
      const id = await client.storedId("<p>the zyzzyvaeword is in this page</p>", { name: "a.html" });
      await untilFound(client, "zyzzyvaeword");
      await change();
      const hasSnippet = async () => (await search(client, "zyzzyvaeword")).at("data.files.0.matches.0") !== undefined;
      expect(await hasSnippet()).toBe(false);
      await eventually("the text is read into a new index", hasSnippet);
      // To remove its words, the old text would be necessary.
      await change();
      expectStatus(await client.delete(`/api/files/${id}`), 200);
      await untilGone(own.dataDir, "zyzzyvaeword");
    });
  });

  test("an administrator switches it off, which deletes it, and on again", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const admin = await confirmIdentity(await own.addUser(["--admin"]));
      await admin.client.storedId("text with gargoylefish", { name: "a.txt" });
      await untilFound(admin.client, "gargoylefish");
      const set = (value: boolean | null) =>
        admin.client.request("PATCH", "/api/admin/settings", { json: { values: { "search.content": value } } });
      expectStatus(await set(false), 200);
      const response = await search(admin.client, "gargoylefish");
      expect(response.at("data.files")).toEqual([]);
      expect(response.at("data.contents.state")).toBe("off");
      expectError(await admin.client.get("/api/files/search?q=content:a"), 400, "invalid_field");
      expect(await suggestions(admin.client, "gargo")).toEqual([]);
      await untilGone(own.dataDir, "gargoylefish");
      expectStatus(await set(null), 200);
      await untilFound(admin.client, "gargoylefish");
    });
  });
});

testAllResponses(server);
