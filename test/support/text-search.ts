// Searches by name and content, as a client of the API.
import type { ApiResponse, Client } from "./client.ts";
import { eventually, expectStatus } from "./expect.ts";

/** The response to a search, which must succeed. @param more further parameters */
export async function search(client: Client, q: string, more = ""): Promise<ApiResponse> {
  const response = await client.get(`/api/files/search?q=${encodeURIComponent(q)}${more}`);
  expectStatus(response, 200);
  return response;
}

/** The names of the hits. */
export async function names(client: Client, q: string, more = ""): Promise<string[]> {
  return (await search(client, q, more)).strings("data.files", "name");
}

/** Searches until the background has read a text. */
export async function untilFound(client: Client, q: string, count = 1): Promise<ApiResponse> {
  let response = await search(client, q);
  await eventually(`${count} hits for ${q}`, async () => {
    response = await search(client, q);
    return response.strings("data.files", "name").length === count;
  });
  return response;
}

/** The texts of the suggestions. */
export async function suggestions(client: Client, q: string): Promise<string[]> {
  const response = await client.get(`/api/files/search/suggestions?q=${encodeURIComponent(q)}`);
  expectStatus(response, 200);
  return response.strings("data.suggestions", "text");
}
