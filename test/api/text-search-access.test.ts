// What searches show of texts, to callers who try to see more than they may read.
import { beforeAll, describe, expect, test } from "bun:test";
import { basic, createAppPassword } from "../support/app-passwords.ts";
import { shareWith } from "../support/account-shares.ts";
import { type Account, type ApiResponse, Client } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { expel, makeGroup, shareWithGroup } from "../support/groups.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";
import { names, search, suggestions, untilFound } from "../support/text-search.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_SHOW_PEOPLE: "on" } });

let admin: Account;

beforeAll(async () => {
  admin = await server().addUser(["--admin"]);
});

/** Every search and suggestion by which an account could find a word. */
async function expectNothing(client: Client, word: string, start: string): Promise<void> {
  for (const q of [word, start, `content:${word}`, `"the ${word}"`, `${word} ext:txt`, `-absent ${start}`]) {
    const response = await search(client, q);
    expect({ q, files: response.at("data.files") }).toEqual({ q, files: [] });
    expect(response.at("data.pagination.total")).toBe(0);
  }
  expect(await suggestions(client, start)).toEqual([]);
}

describe("a share with a group", () => {
  test("shows its texts to members only: after leaving the group there is no hit, snippet or suggestion", async () => {
    const owner = await server().signUp();
    const [stays, leaves, never] = [await server().signUp(), await server().signUp(), await server().signUp()];
    const group = await makeGroup(admin, "Readers", [stays, leaves]);
    const folder = await owner.client.folderId("club");
    await owner.client.storedId("the glockenspielhimmel of the club", {
      name: "minutes.txt",
      fields: { folder: "/club" },
    });
    await untilFound(owner.client, "glockenspielhimmel");
    const share = await shareWithGroup(owner.client, folder, group);
    for (const { client } of [stays, leaves]) {
      const [hit] = (await search(client, "glockenspielhimmel")).list("data.files");
      expect(hit).toMatchObject({ name: "minutes.txt", share, matches: [{ kind: "content" }] });
      expect(await suggestions(client, "glockensp")).toEqual(["glockenspielhimmel"]);
    }
    await expectNothing(never.client, "glockenspielhimmel", "glockensp");
    await expel(admin, group, leaves);
    await expectNothing(leaves.client, "glockenspielhimmel", "glockensp");
    expect(await names(stays.client, "minutes")).toEqual(["minutes.txt"]);
    expect(await names(leaves.client, "minutes")).toEqual([]);
    expectStatus(await admin.client.delete(`/api/admin/groups/${group}`), 200);
    await expectNothing(stays.client, "glockenspielhimmel", "glockensp");
  });
});

describe("callers with less than a session", () => {
  test("a viewer finds what is shared with them, until it moves out of the share or into the trash", async () => {
    const owner = await server().signUp();
    const viewer = await server().addUser(["--role", "viewer"]);
    const folder = await owner.client.folderId("open");
    await owner.client.folderId("closed");
    const file = await owner.client.storedId("the wolkenkuckucksheim", { name: "a.txt", fields: { folder: "/open" } });
    await shareWith(owner.client, folder, viewer);
    await untilFound(viewer.client, "wolkenkuckucksheim");
    expect(await suggestions(viewer.client, "wolkenk")).toEqual(["wolkenkuckucksheim"]);
    expectStatus(await owner.client.post("/api/files/move", { fileIds: [file], destinationFolder: "/closed" }), 200);
    await expectNothing(viewer.client, "wolkenkuckucksheim", "wolkenk");
    expectStatus(await owner.client.post("/api/files/move", { fileIds: [file], destinationFolder: "/open" }), 200);
    await untilFound(viewer.client, "wolkenkuckucksheim");
    expectStatus(await owner.client.post("/api/files/trash", { fileIds: [file] }), 200);
    await expectNothing(viewer.client, "wolkenkuckucksheim", "wolkenk");
  });

  test("a key needs files:read, and app passwords can't search", async () => {
    const account = await server().signUp();
    const { client, password: currentPassword } = account;
    await client.folderId("only");
    await client.storedId("the kaleidoskopfisch", { name: "a.txt" });
    await untilFound(client, "kaleidoskopfisch");
    const addresses = ["/api/files/search?q=kaleidoskop", "/api/files/search/suggestions?q=kaleidoskop"];
    for (const scope of ["files:read", "files:write", "shares", "profile"]) {
      const made = await client.post("/api/users/api-keys", { name: scope, scopes: [scope], currentPassword });
      const key = new Client(server(), made.string("data.key"));
      for (const address of addresses) {
        const response = await key.get(address);
        if (scope === "files:read") expect(response.text).toContain("kaleidoskopfisch");
        else expectLittle(response, 403);
      }
    }
    for (const settings of [{}, { folder: "/only" }, { access: "read" }]) {
      const { username, password } = await createAppPassword(account, settings);
      for (const address of addresses) {
        const headers = basic(username, password);
        expectLittle(await new Client(server()).request("GET", address, { headers }), 401);
      }
    }
  });

  function expectLittle(response: ApiResponse, status: 401 | 403): void {
    expectError(response, status);
    expect(response.text).not.toContain("kaleidoskop");
  }
});

describe("queries that are written to break the index", () => {
  const hostile = [
    '"',
    '""',
    '"""',
    'content:"',
    'content:""',
    "*",
    "content:*",
    "geheim*",
    "^geheimrat",
    'content:"^geheimrat"',
    "{text}:geheimrat",
    'content:"{text} : geheimrat"',
    'content:"text : geheimrat"',
    'content:"NEAR(nothing geheimrat, 10)"',
    'x" OR geheimrat OR "x',
    'content:"x OR geheimrat"',
    "x OR geheimrat",
    "geheimrat NOT x",
    "NOT geheimrat",
    'content:"absent" OR content:"geheimrat"',
    "content:x') OR words MATCH 'geheimrat",
    "geheimrat'; DROP TABLE words; --",
    "content:geheimrat\\",
    'content:"geheimrat\\"',
    "content:.*",
    "content:geheim|x",
    'content:"(geheim)+ [a-z]*"',
    "content:$^",
    "content:\u202egeheimrat",
    "content:\u{1f600}",
    "content:\u0301\u0302",
    "content:\ufdfa",
    "-content:absent",
    "-geheimrat",
    "-",
    "content:",
    `content:"${"a ".repeat(2_000)}"`,
    `"${"ab ".repeat(1_300)}"`,
    "a".repeat(4_096),
    "\u4e00".repeat(1_300),
    Array.from({ length: 1_300 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join(""),
    "a".repeat(10_000),
    "( ".repeat(2_000),
  ];

  test("find nothing of others, fail only as an invalid search, and harm nothing", async () => {
    const owner = await server().signUp();
    const attacker = await server().signUp();
    await owner.client.storedId("the geheimrat knows nothing", { name: "a.txt" });
    await attacker.client.storedId("plain words of mine", { name: "mine.txt" });
    await untilFound(owner.client, "geheimrat");
    await untilFound(attacker.client, "plain");
    for (const q of hostile) {
      const address = `?q=${encodeURIComponent(q)}`;
      const response = await attacker.client.get(`/api/files/search${address}`);
      if (response.status !== 200) expectError(response, 400, "invalid_field");
      const found = response.status === 200 ? response.strings("data.files", "name") : [];
      expect({ q, others: found.filter((name) => name !== "mine.txt") }).toEqual({ q, others: [] });
      const suggested = await attacker.client.get(`/api/files/search/suggestions${address}`);
      expect({ q, status: suggested.status }).toEqual({ q, status: 200 });
      expect(suggested.text).not.toContain("geheimrat");
    }
    expect(await names(attacker.client, "plain")).toEqual(["mine.txt"]);
    expect(await names(owner.client, "geheimrat")).toEqual(["a.txt"]);
  });

  test("operators of the index are plain words", async () => {
    const { client } = await server().signUp();
    await client.storedId("alpha beta", { name: "a.txt" });
    await client.storedId("alpha or near not beta", { name: "b.txt" });
    await untilFound(client, "alpha", 2);
    expect(await names(client, "alpha OR gamma")).toEqual([]);
    expect(await names(client, "alpha OR NEAR NOT beta")).toEqual(["b.txt"]);
    expect(await names(client, 'content:"NEAR(alpha beta)"')).toEqual([]);
    expect(await names(client, "beta*")).toHaveLength(2);
    expect(await names(client, '"alph*"')).toEqual([]);
    expect(await names(client, "content:^beta")).toHaveLength(2);
  });
});

testAllResponses(server);
