import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApiResponse, Client } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

async function search(client: Client, q: string, more = ""): Promise<ApiResponse> {
  const response = await client.get(`/api/files/search?q=${encodeURIComponent(q)}${more}`);
  expectStatus(response, 200);
  return response;
}

async function names(client: Client, q: string, more = ""): Promise<string[]> {
  return (await search(client, q, more)).strings("data.files", "name");
}

/** Searches until the background has read a text. */
async function untilFound(client: Client, q: string, count = 1): Promise<ApiResponse> {
  for (;;) {
    const response = await search(client, q);
    if (response.strings("data.files", "name").length === count) return response;
    await Bun.sleep(50);
  }
}

async function suggestions(client: Client, q: string): Promise<string[]> {
  const response = await client.get(`/api/files/search/suggestions?q=${encodeURIComponent(q)}`);
  expectStatus(response, 200);
  return response.strings("data.suggestions", "text");
}

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
});
