/**
 * A backup as a tar archive with the same files as a backup directory, so that `tar xf` makes one that can be opened.
 * The file that marks it as whole comes last.
 */
import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { type Digest, toDigest } from "../../../blobs/digest.ts";
import { Layout } from "../../../blobs/layout.ts";
import { StartupError } from "../../../config/startup-error.ts";
import { type Db, openReadOnly } from "../../../db/open.ts";
import { digestOf, type Snapshot } from "../../../db/snapshot.ts";
import { FIRST_BYTES, isInBucket, isNamed, listNamed, namesOf, newTotals } from "./contents.ts";
import { BLOCK_BYTES, paddingOf, readHeader, readPax, TAR_END, TarError, writeHeader } from "./tar-format.ts";
import { canSyncFileSystem, isUnreadable, syncFileSystem } from "./blob-copier.ts";
import type { BackupBlob, LostContent, BackupLocation, CopyProgress, CopyTotals } from "./types.ts";
import { errorCode } from "../../../lib/error.ts";

/** Dependencies of {@link writeTar}. */
interface TarBackupOptions {
  readonly source: BackupLocation;
  /** Copies the source's database; called again for a later state. */
  readonly takeSnapshot: () => Snapshot;
  readonly isLive: boolean;
  /** Fetches a blob from the bucket to the source's disk. @returns whether it is on this disk now */
  readonly fetchContent?: ((digest: Digest) => Promise<boolean>) | undefined;
  /** Writes bytes; waits for a slow reader. */
  readonly write: (bytes: Uint8Array) => void;
  readonly onProgress: (progress: CopyProgress) => void;
}

const BUFFER_BYTES = 1024 * 1024;
const ATTEMPTS_MAX = 5;
const MARK = `${JSON.stringify({ state: "backup" })}\n`;
const STATE = "larder.state";

/** Writes a backup as an archive. @throws StartupError if the database does not match the blobs */
export async function writeTar(options: TarBackupOptions): Promise<{ snapshot: Snapshot; totals: CopyTotals }> {
  const { source, isLive } = options;
  const writer = new TarWriter(options.write);
  // With its mode: otherwise `tar xf` would create a folder that other users can read.
  writer.folder("secrets/");
  for (const name of ["larder.toml", ...listSecrets(source)]) writer.small(name, join(source.root, name));
  writer.small("blobs/.larder-store", source.storeMarker);
  let isWritten = isNever;
  const opened: Db[] = [];
  try {
    for (let attempt = 1; ; attempt++) {
      const snapshot = options.takeSnapshot();
      const db = openReadOnly(snapshot.path);
      opened.push(db);
      const totals = await writeContents(db.sqlite, writer, isWritten, options);
      const lost = new Set(totals.lost.map(({ digest }) => digest));
      // Garbage collection deleted it: the later state that follows does not name it.
      if (totals.lost.some(({ why }) => why === "missing") && isLive && attempt < ATTEMPTS_MAX) {
        const before = isWritten;
        isWritten = (digest) => before(digest) || (!lost.has(digest) && isNamed(db.sqlite, digest));
        continue;
      }
      writer.bytes(`snapshots/${snapshot.name}.sha256`, fs.readFileSync(`${snapshot.path}.sha256`));
      requireWritten(writer.large(`snapshots/${snapshot.name}`, snapshot.path), snapshot);
      writer.bytes(STATE, Buffer.from(MARK));
      options.write(TAR_END);
      return { snapshot, totals };
    }
  } finally {
    for (const db of opened) db.close();
  }
}

/** The database must be in the archive: nothing can replace it. @throws StartupError */
function requireWritten(written: WriteOutcome, { path }: Snapshot): void {
  if ("digest" in written && written.digest === digestOf(path)) return;
  throw new StartupError(
    `Could not read ${path}; the backup is incomplete. Check the disk, then run the command again.`,
  );
}

function isNever(_digest: Digest): boolean {
  return false;
}

async function writeContents(
  sqlite: Database,
  writer: TarWriter,
  isWritten: (digest: Digest) => boolean,
  options: TarBackupOptions,
): Promise<CopyTotals> {
  const layout = new Layout(options.source.root);
  const totals = newTotals(sqlite);
  const { contents: ofContents, bytes: ofBytes } = totals;
  const at = { contents: 0, bytes: 0 };
  for (const firstByte of FIRST_BYTES) {
    for (const content of listNamed(sqlite, firstByte)) {
      const { digest, sizeBytes } = content;
      let why = isWritten(digest) ? undefined : writeContent(content, layout, writer);
      if (why === "missing" && (await options.fetchContent?.(digest)) === true)
        why = writeContent(content, layout, writer);
      if (why === undefined) {
        totals.copied++;
        totals.newBytes += sizeBytes;
      } else if (why === "missing" && isInBucket(sqlite, digest)) totals.elsewhere++;
      else totals.lost.push({ digest, sizeBytes, why, names: namesOf(sqlite, digest) });
      at.contents++;
      at.bytes += sizeBytes;
      options.onProgress({ ...at, ofContents, ofBytes, newBytes: totals.newBytes });
    }
  }
  return totals;
}

/**
 * Writes one blob. It can't be removed once its header is written: a damaged one is reported now, and again by the
 * restore, which checks every digest.
 */
function writeContent(
  { digest, sizeBytes }: BackupBlob,
  layout: Layout,
  writer: TarWriter,
): LostContent["why"] | undefined {
  for (const path of [layout.blob(digest), layout.quarantined(digest)]) {
    const found = fs.lstatSync(path, { throwIfNoEntry: false });
    if (!found?.isFile()) continue;
    if (found.size !== sizeBytes) return "damaged";
    const name = `blobs/sha256/${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`;
    const written = writer.large(name, path);
    if ("why" in written) return written.why;
    return written.digest === digest ? undefined : "damaged";
  }
  return "missing";
}

function listSecrets({ secrets }: BackupLocation): string[] {
  if (!fs.existsSync(secrets)) return [];
  return fs
    .readdirSync(secrets)
    .filter((name) => name.endsWith(".json"))
    .map((name) => `secrets/${name}`);
}

/** The sha256 of the written bytes, or why the file or its end could not be read. */
type WriteOutcome = { readonly digest: Digest } | { readonly why: LostContent["why"] };

class TarWriter {
  readonly #write: (bytes: Uint8Array) => void;
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  readonly #nowMs = Date.now();

  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write;
  }

  /** A file that may be missing. */
  small(name: string, path: string): void {
    if (fs.existsSync(path)) this.bytes(name, fs.readFileSync(path));
  }

  folder(name: string): void {
    this.#write(writeHeader({ name, sizeBytes: 0, kind: "folder" }, this.#nowMs));
  }

  bytes(name: string, bytes: Uint8Array): void {
    this.#write(writeHeader({ name, sizeBytes: bytes.byteLength, kind: "file" }, this.#nowMs));
    this.#write(bytes);
    this.#write(new Uint8Array(paddingOf(bytes.byteLength)));
  }

  /**
   * Writes a file with the size that it has when it is opened. If the disk fails, zeros replace the rest.
   */
  large(name: string, path: string): WriteOutcome {
    let fd: number;
    try {
      fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return { why: "missing" };
      if (isUnreadable(error)) return { why: "unreadable" };
      throw error;
    }
    try {
      const { size } = fs.fstatSync(fd);
      this.#write(writeHeader({ name, sizeBytes: size, kind: "file" }, this.#nowMs));
      const hasher = new Bun.CryptoHasher("sha256");
      let why: "damaged" | "unreadable" | undefined;
      for (let left = size; left > 0; ) {
        const length = Math.min(left, BUFFER_BYTES);
        const got = why === undefined ? this.#read(fd, length) : length;
        if (typeof got === "string") {
          why = got;
          this.#buffer.fill(0);
          continue;
        }
        const bytes = this.#buffer.subarray(0, got);
        hasher.update(bytes);
        this.#write(bytes);
        left -= got;
      }
      this.#write(new Uint8Array(paddingOf(size)));
      return why === undefined ? { digest: toDigest(hasher.digest("hex")) } : { why };
    } finally {
      fs.closeSync(fd);
    }
  }

  /** @returns the number of bytes, at least one; or why there are none: the file was truncated or the disk failed */
  #read(fd: number, length: number): number | "damaged" | "unreadable" {
    try {
      return fs.readSync(fd, this.#buffer, 0, length, null) || "damaged";
    } catch (error) {
      if (isUnreadable(error)) return "unreadable";
      throw error;
    }
  }
}

/** Largest extended header, which is read as a whole; a name and a size need much less. */
const EXTENDED_BYTES_MAX = 1024 * 1024;

/** The only members that are extracted, so that no path leads out of the target directory. */
const MEMBER =
  /^(larder\.toml|larder\.state|larder-backup\.json|secrets\/[a-z]+\.json|snapshots\/larder-[0-9TZ-]+-[a-z-]+\.db(\.sha256)?|blobs\/\.larder-store|blobs\/sha256\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{64})$/;

/**
 * Unpacks an archive into a directory, except for the file that marks it as whole. Blobs that do not match their
 * digests are left out. Durable on return.
 * @returns the number of damaged blobs
 * @throws StartupError if the archive is not from Larder, or ends early
 */
export async function readTar(input: AsyncIterable<Uint8Array>, root: string): Promise<{ damaged: number }> {
  const reader = new TarReader(input);
  const isSyncingEach = !canSyncFileSystem(root);
  let damaged = 0;
  let isWhole = false;
  try {
    for (;;) {
      const header = await readMemberHeader(reader);
      if (header === undefined) break;
      const { name, sizeBytes } = header;
      isWhole ||= name === STATE;
      if (header.isFolder) continue;
      if (!MEMBER.test(name)) throw new TarError(`The archive has an entry that a backup does not have: ${name}`);
      const member = { path: name === STATE ? undefined : join(root, name), isSyncingEach };
      if (!(await unpack(reader, member, name, sizeBytes))) damaged++;
      await reader.take(paddingOf(sizeBytes));
    }
  } catch (error) {
    if (error instanceof TarError) throw new StartupError(`${error.message} Nothing was restored.`, error);
    throw error;
  }
  syncFileSystem(root);
  if (!isWhole) throw new StartupError("The archive is incomplete. Nothing was restored.");
  return { damaged };
}

/**
 * Reads the header of the next member, and the extended header before it.
 * @returns undefined at the end of the archive
 */
async function readMemberHeader(
  reader: TarReader,
): Promise<{ name: string; sizeBytes: number; isFolder: boolean } | undefined> {
  for (let pax: ReturnType<typeof readPax> = {}; ; ) {
    const header = readHeader(await reader.take(BLOCK_BYTES));
    if (header.kind === "end") return undefined;
    const { kind, sizeBytes } = header;
    if (kind !== "extended") {
      const name = (pax.path ?? header.name).replace(/^\.\//, "");
      return { name, sizeBytes: pax.size ?? sizeBytes, isFolder: kind === "folder" };
    }
    if (sizeBytes > EXTENDED_BYTES_MAX) throw new TarError("The archive has an incomplete extended header.");
    pax = readPax(await reader.take(sizeBytes));
    await reader.take(paddingOf(sizeBytes));
  }
}

/** @returns false for a blob that does not match its digest; it is deleted then */
async function unpack(
  reader: TarReader,
  { path, isSyncingEach }: { path: string | undefined; isSyncingEach: boolean },
  name: string,
  sizeBytes: number,
): Promise<boolean> {
  if (path === undefined) {
    await reader.take(sizeBytes);
    return true;
  }
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fd = fs.openSync(path, "w", 0o600);
  const hasher = new Bun.CryptoHasher("sha256");
  try {
    for (let left = sizeBytes; left > 0; ) {
      const bytes = await reader.some(left);
      hasher.update(bytes);
      for (let written = 0; written < bytes.byteLength; ) written += fs.writeSync(fd, bytes, written);
      left -= bytes.byteLength;
    }
    if (isSyncingEach) fs.fdatasyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
  const isRight = !name.startsWith("blobs/sha256/") || name.endsWith(hasher.digest("hex"));
  if (!isRight) fs.rmSync(path);
  return isRight;
}

/** Reads a stream in requested lengths. */
class TarReader {
  readonly #input: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(input: AsyncIterable<Uint8Array>) {
    this.#input = input[Symbol.asyncIterator]();
  }

  /** Reads exactly `length` bytes, for headers. @throws TarError if the stream ends before that */
  async take(length: number): Promise<Uint8Array> {
    const buffers: Uint8Array[] = [];
    for (let left = length; left > 0; ) {
      const buffer = await this.some(left);
      buffers.push(buffer);
      left -= buffer.byteLength;
    }
    return buffers.length === 1 && buffers[0] !== undefined ? buffers[0] : Buffer.concat(buffers);
  }

  /** Reads at least one and at most `lengthMax` bytes. @throws TarError at the end of the stream */
  async some(lengthMax: number): Promise<Uint8Array> {
    while (this.#rest.byteLength === 0) {
      const next = await this.#input.next();
      if (next.done === true) throw new TarError("The archive is incomplete.");
      this.#rest = next.value;
    }
    const buffer = this.#rest.subarray(0, lengthMax);
    this.#rest = this.#rest.subarray(buffer.byteLength);
    return buffer;
  }
}
