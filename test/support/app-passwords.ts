// App passwords, as programs use them: HTTP Basic at the addresses for WebDAV and sync.
import type { Account, ApiResponse, RequestOptions, Target } from "./client.ts";
import { Client } from "./client.ts";
import { expectStatus } from "./expect.ts";

/** A new app password. */
export interface TestAppPassword {
  id: string;
  username: string;
  password: string;
}

/** Creates an app password with proof, which must succeed. */
export async function createAppPassword(
  { client, password }: Account,
  settings: Record<string, unknown> = {},
): Promise<TestAppPassword> {
  const response = await client.post("/api/users/app-passwords", {
    name: "laptop",
    currentPassword: password,
    ...settings,
  });
  expectStatus(response, 201);
  const [id, username] = [response.string("data.id"), response.string("data.username")];
  return { id, username, password: response.string("data.password") };
}

/** The header of HTTP Basic. */
export function basic(username: string, password: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

/** Requests the list of the root folder by HTTP Basic. */
export function openDav(
  target: Target,
  { username, password }: Pick<TestAppPassword, "username" | "password">,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return sendDav(target, { username, password }, "GET", "", { headers });
}

/** Sends a request below /dav/ by HTTP Basic. */
export function sendDav(
  target: Target,
  { username, password }: Pick<TestAppPassword, "username" | "password">,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<ApiResponse> {
  const headers = { ...basic(username, password), ...options.headers };
  return new Client(target).request(method, `/dav/${path}`, { ...options, headers });
}
