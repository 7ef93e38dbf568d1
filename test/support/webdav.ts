// A WebDAV client with an app password.
import type { Account, ApiResponse, RequestOptions } from "./client.ts";
import { Client } from "./client.ts";
import { expectStatus } from "./expect.ts";

/** Settings of an app password. */
export interface AppPasswordSettings {
  name?: string;
  access?: "read" | "write";
  folder?: string;
}

/** Requests below a root of the WebDAV tree, by one app password. */
export class DavClient {
  readonly #client: Client;
  readonly #root: string;
  /** The value of the header Authorization. */
  readonly authorization: string;

  constructor(client: Client, root: string, username: string, password: string) {
    this.#client = client;
    this.#root = root;
    this.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  }

  /** @param path percent-encoded, below the root, without a slash at the start */
  request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const headers = { authorization: this.authorization, ...options.headers };
    return this.#client.request(method, this.#root + path, { ...options, headers });
  }

  async put(path: string, body: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return this.request("PUT", path, { body, headers });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return this.request("GET", path, { headers });
  }

  mkcol(path: string): Promise<ApiResponse> {
    return this.request("MKCOL", path);
  }

  /** MOVE or COPY to a path below the same root. */
  relocate(method: "MOVE" | "COPY", path: string, to: string, headers: Record<string, string> = {}) {
    const destination = `${this.#client.target.url}${this.#root}${to}`;
    return this.request(method, path, { headers: { destination, ...headers } });
  }
}

/** Makes an app password of an account, and a client that uses it. */
export async function connectDav(
  account: Pick<Account, "client" | "email" | "password">,
  settings: AppPasswordSettings = {},
  root = "/dav/",
): Promise<DavClient> {
  const made = await account.client.post("/api/users/app-passwords", {
    name: "test",
    currentPassword: account.password,
    ...settings,
  });
  expectStatus(made, 201);
  return new DavClient(
    new Client(account.client.target),
    root,
    made.string("data.username"),
    made.string("data.password"),
  );
}
