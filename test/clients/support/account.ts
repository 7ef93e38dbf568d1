// An account with an app password, as a WebDAV or sync program uses it, and the requests that programs send.
import { eventually } from "../../support/expect.ts";
import { type Account, ApiResponse, type Client, toBytes } from "../../support/client.ts";
import { sharedServer, type ServerOptions, type TestServer } from "../../support/server.ts";

/** An account, and an app password for it. */
export interface ClientAccount {
  account: Account;
  /** The account's email address, which is the user name of a program. */
  user: string;
  /** The app password. */
  password: string;
  /** The value of an Authorization header with both. */
  authorization: string;
  client: Client;
  /** The path below which the server is; empty or missing for none. */
  basePath?: string;
}

/** Settings of an app password. */
export interface PasswordSettings {
  access?: "read" | "write";
  /** The path of the only folder that it opens. */
  folder?: string;
}

/** A file or folder of an account as the API lists it. */
export interface ServerEntry {
  id: string;
  /** SHA-256 of a file in hex; "folder" for a folder. */
  content: string;
  sizeBytes: number;
  version: number;
}

/** Starts a server that logs every request. */
export function clientServer(options: ServerOptions = {}): () => TestServer {
  const env = { LARDER_LOG_REQUESTS: "all", LARDER_LOG: "json", ...options.env };
  return sharedServer({ hasAccounts: true, ...options, env });
}

/** Returns a new account with an app password. */
export async function newClientAccount(server: TestServer, settings: PasswordSettings = {}): Promise<ClientAccount> {
  return withAppPassword(await server.signUp(), settings);
}

/** Creates an app password of an account, by default one that may write. */
export async function withAppPassword(account: Account, settings: PasswordSettings = {}): Promise<ClientAccount> {
  const created = await account.client.post("/api/users/app-passwords", {
    name: "test",
    currentPassword: account.password,
    ...settings,
  });
  if (created.status !== 201) throw new Error(`no app password: ${created.status} ${created.text}`);
  const password = created.string("data.password");
  const authorization = `Basic ${Buffer.from(`${account.email}:${password}`).toString("base64")}`;
  return { account, user: account.email, password, authorization, client: account.client };
}

/** What {@link dav} sends in addition to method and path. */
export interface DavOptions {
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** Sends a request by an account's app password. */
export async function dav(
  server: TestServer,
  { authorization }: Pick<ClientAccount, "authorization">,
  method: string,
  path: string,
  { headers = {}, body }: DavOptions = {},
): Promise<ApiResponse> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization, ...headers },
    redirect: "manual",
    ...(body === undefined ? {} : { body: toBytes(body) }),
  });
  return new ApiResponse(response.status, response.headers, new Uint8Array(await response.arrayBuffer()));
}

/** Everything in an account: path without the first slash → entry. */
export async function readServerTree({ client }: Pick<ClientAccount, "client">): Promise<Map<string, ServerEntry>> {
  const tree = new Map<string, ServerEntry>();
  for (let page = 1; ; page += 1) {
    const listing = await client.get(`/api/files?folder=/&recursive=true&limit=100&page=${page}`);
    if (listing.status !== 200) throw new Error(`listing failed: ${listing.status} ${listing.text}`);
    const items = listing.list("data.files");
    for (const item of items) {
      const field = (name: string): unknown => Reflect.get(Object(item), name);
      const isFolder = field("type") === "folder";
      const folder = String(field("folder"));
      tree.set(`${folder === "/" ? "" : `${folder.slice(1)}/`}${String(field("name"))}`, {
        id: String(field("id")),
        content: isFolder ? "folder" : String(field("checksum")).replace("sha256:", ""),
        sizeBytes: isFolder ? 0 : Number(field("size")),
        version: isFolder ? 0 : Number(field("version")),
      });
    }
    if (items.length < 100) return tree;
  }
}

/** A request in the server's log. */
export interface LoggedRequest {
  method: string;
  path: string;
  status: number;
}

let marks = 0;

/** Calls `work`, and returns the requests to the addresses of programs that the server logged during it, in order. */
export async function requestsDuring(server: TestServer, work: () => Promise<unknown>): Promise<LoggedRequest[]> {
  const begin = await mark(server);
  await work();
  const end = await mark(server);
  return server.log
    .slice(begin, end)
    .split("\n")
    .flatMap((line) => (line.includes('"method"') ? [parseLine(line)] : []))
    .filter(({ path }) => /^\/(?:dav|remote\.php|ocs|index\.php|status\.php)/.test(path));
}

function parseLine(line: string): LoggedRequest {
  const parsed: LoggedRequest = JSON.parse(line);
  return { method: parsed.method, path: parsed.path, status: parsed.status };
}

/** Sends a request with a path of its own, and waits for its line in the log. All earlier lines precede it. */
async function mark(server: TestServer): Promise<number> {
  marks += 1;
  const path = `/health/mark-${process.pid}-${marks}-end`;
  const { length } = server.log;
  await server.visitor.get(path);
  await eventually("the line of the marking request", () => server.log.includes(path, length));
  // Logged lines end with a newline, so this is where the next one begins.
  await eventually("the end of that line", () => server.log.includes("\n", server.log.indexOf(path, length)));
  return server.log.indexOf("\n", server.log.indexOf(path, length)) + 1;
}
