import { type ImportSource, type LeftOut, SourceError, type SourceEntry, type SourceFile } from "../../source.ts";
import { download } from "../server/download.ts";
import type { SourceNetwork } from "../server/network.ts";
import { StatusError } from "../server/failures.ts";
import { ServerClient, type ServerClientOptions } from "../server/server-client.ts";
import type { DavEntry } from "./dav-entry.ts";
import { type DavFolder, findFolder } from "./find-folder.ts";
import { listLeftOut } from "./left-out.ts";
import { type ListedFolder, listFolder } from "./list-folder.ts";
import { say } from "../../../../../translations/say.ts";

/** Options of {@link NextcloudSource}. */
export interface NextcloudSourceOptions extends Pick<ServerClientOptions, "clock" | "backoff"> {
  readonly network: SourceNetwork;
  /** The address of a Nextcloud or an ownCloud, of one of its pages, or of a folder of any WebDAV server. */
  readonly address: string;
  /** A login name or an email address. */
  readonly username: string;
  /** An app password. */
  readonly password: string;
}

/** A folder that is still to be listed. */
interface PendingFolder {
  readonly url: URL;
  /** Below the source; empty for the source. */
  readonly path: string;
  readonly level: number;
}

const REJECTION = say`The server rejected the user name or the password. In Nextcloud and ownCloud, open the settings, select Security, and create an app password.`;
/** Deeper folders exist only if a server lists a folder in itself. */
const LEVELS_MAX = 200;
/** Folders whose turn has not come: their addresses are in memory. */
const PENDING_MAX = 1_000_000;

/** The files of an account of a Nextcloud or an ownCloud, or of a folder of another WebDAV server. */
export class NextcloudSource implements ImportSource {
  readonly kind = "nextcloud";
  readonly mergesCopies = false;
  readonly #client: ServerClient;
  readonly #username: string;
  #identity: string;
  #comments = 0;

  /** @throws SourceError if the address is invalid */
  constructor({ address, username, password, ...options }: NextcloudSourceOptions) {
    const credentials = Buffer.from(`${username}:${password}`).toString("base64");
    this.#username = username;
    this.#client = new ServerClient(address, {
      ...options,
      credentials: { Authorization: `Basic ${credentials}` },
      rejection: REJECTION,
    });
    this.#identity = `nextcloud ${this.#client.address.href} ${username}`;
  }

  /** The same under all addresses of a Nextcloud, once the first entry was offered. */
  get identity(): string {
    return this.#identity;
  }

  async *entries(signal: AbortSignal): AsyncGenerator<SourceEntry> {
    this.#comments = 0;
    const folder = await findFolder(this.#client, this.#username, signal);
    const top = await this.#listTop(folder, signal);
    this.#identity = identityOf(folder, top, this.#username);
    yield { type: "total", files: undefined, sizeBytes: top.self?.sizeBytes };
    if (folder.account !== undefined) {
      for await (const leftOut of listLeftOut(this.#client, folder.account, signal)) yield { type: "leftOut", leftOut };
    }
    yield* this.#walk(folder.url, top, signal);
    if (this.#comments > 0) {
      const message = say`Larder has no comments. Those on these files are not imported.`;
      yield leftOutEntry({ name: "Comments", reason: "unsupported", count: this.#comments, message });
    }
  }

  async close(): Promise<void> {
    this.#client.close();
  }

  /** @throws SourceError if the address is not that of a folder */
  async #listTop({ url, account }: DavFolder, signal: AbortSignal): Promise<ListedFolder> {
    try {
      const listed = await listFolder(this.#client, url, signal);
      if (listed.self?.isFolder !== false) return listed;
    } catch (error) {
      if (!(error instanceof StatusError) || error.isTemporary) throw error;
      const hint =
        account === undefined
          ? say`Enter the address of your Nextcloud, or that of a WebDAV folder.`
          : say`Enter the address of the server without a path, and check the user name.`;
      throw new SourceError(say`No WebDAV folder is at this address (status ${error.status}). ${hint}`, false);
    }
    throw new SourceError(say`A file is at this address. Enter the address of the folder around it.`, false);
  }

  /** Depth first, by name, the files of a folder before its folders. */
  async *#walk(top: URL, listedTop: ListedFolder, signal: AbortSignal): AsyncGenerator<SourceEntry> {
    const pending: PendingFolder[] = [];
    yield* this.#walkFolder({ url: top, path: "", level: 0 }, listedTop, pending);
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      signal.throwIfAborted();
      // Sequentially: a folder's list is read when its turn has come, so that few are in memory.
      const listed = await this.#listBelow(folder, signal);
      if ("message" in listed) {
        yield leftOutEntry({ name: folder.path, reason: "unreadable", message: listed.text });
      } else yield* this.#walkFolder(folder, listed, pending);
    }
  }

  /** @returns why the server does not list this folder, if it does not */
  async #listBelow({ url }: PendingFolder, signal: AbortSignal): Promise<ListedFolder | SourceError> {
    try {
      const listed = await listFolder(this.#client, url, signal);
      this.#client.noteDelivery();
      return listed;
    } catch (error) {
      return this.#client.singleFailure(error);
    }
  }

  *#walkFolder(folder: PendingFolder, { members }: ListedFolder, pending: PendingFolder[]): Generator<SourceEntry> {
    const below: PendingFolder[] = [];
    for (const member of members) {
      this.#client.checkAccess();
      const path = folder.path === "" ? member.name : `${folder.path}/${member.name}`;
      this.#comments += member.comments;
      const leftOut = whyLeftOut(member, path, folder.level);
      if (leftOut !== undefined) yield leftOutEntry(leftOut);
      else if (member.isFolder) {
        if (member.isFavorite || member.tags.length > 0) yield leftOutEntry(marksOf(path));
        below.push({ url: addressOf(`${member.segment}/`, folder.url), path, level: folder.level + 1 });
      } else yield { type: "file", file: this.#toFile(member, path, addressOf(member.segment, folder.url)) };
    }
    if (pending.length + below.length > PENDING_MAX)
      throw new SourceError(say`The server lists too many folders.`, false);
    for (const each of below.reverse()) pending.push(each);
  }

  #toFile(entry: DavEntry, path: string, url: URL): SourceFile {
    const { sizeBytes, modifiedMs, tags, checksum } = entry;
    return {
      key: entry.fileId ?? path,
      version: versionOf(entry),
      path,
      sizeBytes,
      modifiedMs,
      details: { ...(entry.isFavorite && { isFavorite: true }), ...(tags.length > 0 && { tags }) },
      open: (signal) => download(this.#client, url, { sizeBytes, checksum }, signal),
    };
  }
}

function identityOf({ url, account }: DavFolder, { self }: ListedFolder, username: string): string {
  if (account === undefined) return `nextcloud ${url.href} ${username}`;
  return `nextcloud ${self?.instanceId ?? account.root.href} ${account.userId}`;
}

/** The address of a member. A name such as `https:a` must not become another address. */
function addressOf(segment: string, folder: URL): URL {
  return new URL(`./${segment}`, folder);
}

function leftOutEntry(leftOut: LeftOut): SourceEntry {
  return { type: "leftOut", leftOut };
}

/** Why a file or folder is not imported; undefined if it is. */
function whyLeftOut({ isFolder, isReceived, isEndToEndEncrypted }: DavEntry, name: string, level: number) {
  if (isReceived) {
    const message = say`Someone else shares it with you. It is not imported: its owner can import it.`;
    return { name, reason: "unsupported", message } as const;
  }
  if (isEndToEndEncrypted) {
    const message = say`End-to-end encrypted: only the apps of Nextcloud can read it. Move its files to another folder first.`;
    return { name, reason: "unsupported", message } as const;
  }
  if (!isFolder || level < LEVELS_MAX) return undefined;
  const message = say`The folder is more than ${LEVELS_MAX} levels deep. Move it to a higher level.`;
  return { name, reason: "unreadable", message } as const;
}

function marksOf(name: string): LeftOut {
  const message = say`The folder is a favorite or has tags. They are imported only for files.`;
  return { name, reason: "unsupported", message };
}

/** Favorites and tags do not change the ETag. */
function versionOf({ etag, modifiedMs, sizeBytes, isFavorite, tags }: DavEntry): string {
  const content = etag ?? `${modifiedMs ?? ""}-${sizeBytes ?? ""}`;
  return [content, ...(isFavorite ? ["favorite"] : []), ...tags].join("|");
}
