import { SourceError } from "../../source.ts";
import { JsonFields } from "../server/json-fields.ts";
import { StatusError } from "../server/failures.ts";
import type { ServerClient } from "../server/server-client.ts";
import { say } from "../../../../../translations/say.ts";

/** A folder of a WebDAV server. */
export interface DavFolder {
  readonly url: URL;
  /** The server, if it is a Nextcloud or an ownCloud. */
  readonly account: NextcloudAccount | undefined;
}

/** An account of a Nextcloud or an ownCloud. */
export interface NextcloudAccount {
  /** The address of the installation, with a slash at the end. */
  readonly root: URL;
  readonly userId: string;
}

/** Paths of pages and of WebDAV, which begin below the root of an installation. */
const BELOW_ROOT = /\/(?:index\.php|remote\.php|apps|login|settings)(?:\/.*)?$/;
const FILES_PATH = /\/remote\.php\/(?:dav\/files\/([^/]+)|webdav)\//;

/**
 * Finds the WebDAV folder with a person's files, if the address is that of a Nextcloud or an ownCloud, or of one of its
 * pages. Otherwise the address is that of the folder.
 * @param username a login name or an email address
 * @throws SourceError
 */
export async function findFolder(client: ServerClient, username: string, signal: AbortSignal): Promise<DavFolder> {
  const { address } = client;
  const installation = (await findInstallation(client, rootOf(address), signal)) ?? (await findByPage(client, signal));
  if (installation === undefined) return { url: address, account: undefined };
  const [path, segment] = FILES_PATH.exec(address.pathname) ?? [];
  const userId = segment === undefined ? await findUserId(client, installation.root, signal) : decode(segment);
  const account = { ...installation, userId: userId ?? username };
  if (path !== undefined) return { url: address, account };
  const url = new URL(`remote.php/dav/files/${encodeURIComponent(account.userId)}/`, installation.root);
  return { url, account };
}

type Installation = Pick<NextcloudAccount, "root">;

function rootOf(address: URL): URL {
  const root = new URL(address.href);
  root.pathname = `${root.pathname.replace(/\/$/, "").replace(BELOW_ROOT, "")}/`;
  return root;
}

/** The installation to which a page redirects: `example.org` to `example.org/nextcloud/login`. */
async function findByPage(client: ServerClient, signal: AbortSignal): Promise<Installation | undefined> {
  const page = await client.send(client.address, { signal });
  await page.body.cancel();
  const root = rootOf(page.url);
  return root.href === rootOf(client.address).href ? undefined : findInstallation(client, root, signal);
}

/** Undefined if no Nextcloud or ownCloud is at this address. @throws SourceError in maintenance mode */
async function findInstallation(
  client: ServerClient,
  root: URL,
  signal: AbortSignal,
): Promise<Installation | undefined> {
  const response = await client.send(new URL("status.php", root), { signal, attempts: 2 });
  const status = await readStatus(response);
  if (status === undefined) return undefined;
  if (status.isTrue("maintenance")) {
    throw new SourceError(say`The server is in maintenance mode. Try again later.`, true);
  }
  return { root: new URL(".", response.url) };
}

/** Undefined if the response is not that of a Nextcloud or an ownCloud. */
async function readStatus({ status, body }: { status: number; body: ReadableStream<Uint8Array> }) {
  if (status !== 200) {
    await body.cancel();
    return undefined;
  }
  const fields = parseStatus(await readStart(body));
  return fields?.optionalString("versionstring") === undefined ? undefined : fields;
}

function parseStatus(text: string): JsonFields | undefined {
  try {
    return new JsonFields(JSON.parse(text), "status.php");
  } catch {
    return undefined;
  }
}

const STATUS_BYTES_MAX = 64 * 1024;

/** The beginning of a body, which can be a page of another server. */
async function readStart(body: ReadableStream<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const part of body) {
    parts.push(part);
    sizeBytes += part.byteLength;
    if (sizeBytes > STATUS_BYTES_MAX) break;
  }
  return Buffer.concat(parts).toString("utf8");
}

/** The ID of the person who signed in; undefined if the server doesn't name it. */
async function findUserId(client: ServerClient, root: URL, signal: AbortSignal): Promise<string | undefined> {
  const endpoint = "/ocs/v1.php/cloud/user";
  const url = new URL("ocs/v1.php/cloud/user?format=json", root);
  try {
    const response = await client.readJson(url, endpoint, { headers: { "OCS-APIRequest": "true" }, signal });
    return new JsonFields(response, endpoint).object("ocs").object("data").optionalString("id");
  } catch (error) {
    if (error instanceof StatusError && !error.isTemporary) return undefined;
    throw error;
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
