/** Shows what is in an archive, without extracting it. */
import { AppError, invalidField, notFound } from "../../../errors.ts";
import { FairQueue } from "../../../lib/fair-queue.ts";
import { fold } from "../../../lib/path.ts";
import { Steps } from "../../../lib/steps.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import { DEFLATED, readContent, STORED } from "./zip-content.ts";
import { readZipDirectory, type ZipEntry } from "./zip-directory.ts";
import type { ZipBlobs } from "./zip-source.ts";

/** A file or folder in a folder of an archive. */
export interface ListedEntry {
  readonly name: string;
  /** In the archive, without a slash at either end. */
  readonly path: string;
  readonly isFolder: boolean;
  /** Undefined for folders that the archive only implies. */
  readonly entry: ZipEntry | undefined;
}

/** Archives that are read at the same time, and may wait. */
const QUEUE = { runningMax: 2, waitingMax: 32 };
/** Directories of archives with up to so many entries stay in memory: some megabytes. */
const CACHED_ENTRIES_MAX = 20_000;
const CACHED_MAX = 2;
/** How long a listing may block the event loop, in milliseconds. */
const STEP_MS = 10;

/** Reads archives. */
export class ZipBrowser {
  readonly #blobs: ZipBlobs;
  readonly #queue = new FairQueue(QUEUE);
  /** By digest, the last used one at the end. */
  readonly #cached = new Map<string, readonly ZipEntry[]>();

  constructor(blobs: ZipBlobs) {
    this.#blobs = blobs;
  }

  /**
   * A folder of an archive: folders first, then by name.
   * @param path without a slash at either end; empty for the outermost folder
   * @throws AppError not_found if the archive has no such folder; invalid_request; as the blob store
   */
  async list(file: FileNode, path: string): Promise<ListedEntry[]> {
    const prefix = path === "" ? "" : `${path}/`;
    const found = new Map<string, ListedEntry & { readonly key: string }>();
    const steps = new Steps(STEP_MS);
    let exists = path === "";
    for (const entry of await this.#directory(file)) {
      await steps.next();
      if (!entry.name.startsWith(prefix)) continue;
      exists = true;
      const rest = entry.name.slice(prefix.length);
      const slash = rest.indexOf("/");
      const name = slash < 0 ? rest : rest.slice(0, slash);
      if (name === "") continue;
      const isItself = slash < 0 || slash === rest.length - 1;
      const known = found.get(name);
      if (!isItself && known !== undefined) continue;
      const key = known?.key ?? fold(name);
      found.set(name, { name, key, path: prefix + name, isFolder: slash >= 0, entry: isItself ? entry : undefined });
    }
    if (!exists) throw notFound(say`This folder of the archive was not found.`);
    return [...found.values()].toSorted((a, b) => Number(b.isFolder) - Number(a.isFolder) || (a.key < b.key ? -1 : 1));
  }

  /**
   * A file in an archive. Reading its content ends with an error unless it is what the archive says.
   * @throws AppError not_found; invalid_request if it is encrypted or can't be read; as the blob store
   */
  async open(
    file: FileNode,
    path: string,
  ): Promise<{ readonly entry: ZipEntry; readonly read: () => AsyncGenerator<Uint8Array> }> {
    if (path === "" || path.endsWith("/")) throw invalidField("path", say`Enter the path of a file in the archive.`);
    const entry = (await this.#directory(file)).find(({ name }) => name === path);
    if (entry === undefined) throw notFound(say`This file of the archive was not found.`);
    const { method, isEncrypted, sizeBytes, compressedBytes } = entry;
    const isReadable = method === DEFLATED || (method === STORED && sizeBytes === compressedBytes);
    if (isEncrypted || !isReadable) {
      const message = isEncrypted
        ? say`This file is encrypted. Download the archive.`
        : say`This file is compressed in a way that Larder can't read. Download the archive.`;
      const problem = isEncrypted ? "encrypted" : "compression";
      throw new AppError("invalid_request", message, { problem });
    }
    return { entry, read: () => readContent(this.#blobs, file, entry) };
  }

  async #directory(file: FileNode): Promise<readonly ZipEntry[]> {
    const known = this.#cached.get(file.digest);
    if (known !== undefined) {
      this.#cached.delete(file.digest);
      this.#cached.set(file.digest, known);
      return known;
    }
    const read = () => readZipDirectory(this.#blobs, file);
    const entries = await this.#queue.run(String(file.accountId), read, () => {
      return new AppError("overloaded", say`Other archives are being read. Try again in a moment.`);
    });
    if (entries.length <= CACHED_ENTRIES_MAX) {
      this.#cached.set(file.digest, entries);
      const [oldest] = this.#cached.keys();
      if (this.#cached.size > CACHED_MAX && oldest !== undefined) this.#cached.delete(oldest);
    }
    return entries;
  }
}
