// A client of the sync protocol, for uploads in chunks.
import type { Account, ApiResponse, RequestOptions } from "./client.ts";
import { expectStatus } from "./expect.ts";
import type { TestServer } from "./server.ts";

/** A sync client with an app password. */
export class SyncClient {
  constructor(
    readonly own: TestServer,
    readonly account: Account,
    readonly authorization: string,
  ) {}

  /** @param path below `/remote.php/dav/`, with `{user}` for the account */
  request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const headers = { authorization: this.authorization, ...options.headers };
    return this.own.visitor.request(method, this.pathOf(path), { ...options, headers });
  }

  pathOf(path: string): string {
    return `/remote.php/dav/${path.replace("{user}", encodeURIComponent(this.account.email))}`;
  }

  /** @param totalBytes size of the complete file, which the desktop clients announce */
  begin(transfer: string, totalBytes?: number): Promise<ApiResponse> {
    const headers = totalBytes === undefined ? {} : { "oc-total-length": String(totalBytes) };
    return this.request("MKCOL", `uploads/{user}/${transfer}`, { headers });
  }

  put(transfer: string, name: string, body: Uint8Array<ArrayBuffer> | string): Promise<ApiResponse> {
    return this.request("PUT", `uploads/{user}/${transfer}/${name}`, { body });
  }

  finish(transfer: string, target: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    const destination = this.own.url + this.pathOf(`files/{user}/${target}`);
    return this.request("MOVE", `uploads/{user}/${transfer}/.file`, { headers: { destination, ...headers } });
  }

  /** The names and sizes of the stored chunks. */
  async list(transfer: string): Promise<[string, number][]> {
    const listed = await this.request("PROPFIND", `uploads/{user}/${transfer}/`, { headers: { depth: "1" } });
    expectStatus(listed, 207);
    const items = [...listed.text.matchAll(/<d:href>([^<]*)<\/d:href>.*?(?:getcontentlength>(\d+)<|<d:collection)/g)];
    return items.slice(1).map(([, href = "", size]) => [href.slice(href.lastIndexOf("/") + 1), Number(size)]);
  }

  async content(target: string): Promise<Uint8Array> {
    const got = await this.request("GET", `files/{user}/${target}`);
    expectStatus(got, 200);
    return got.bytes;
  }
}

/** Signs a sync client in. @param settings of its app password */
export async function connectSyncClient(
  own: TestServer,
  account?: Account,
  settings: object = {},
): Promise<SyncClient> {
  const owner = account ?? (await own.signUp());
  const { email, password, client } = owner;
  const made = await client.post("/api/users/app-passwords", { name: "test", currentPassword: password, ...settings });
  expectStatus(made, 201);
  const credentials = Buffer.from(`${email}:${made.string("data.password")}`).toString("base64");
  return new SyncClient(own, owner, `Basic ${credentials}`);
}
