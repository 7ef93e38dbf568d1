/**
 * Objects on disk: `<first>-<last>.jsonl.zst` or `….full.jsonl.zst`, lines of JSON compressed by zstd, so that
 * `zstdcat` prints them. An object gets its name only once it is whole and durable; its last line has the sha256 of all
 * lines before. Consecutive small objects are joined into one file by concatenating their bytes.
 */
import * as fs from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createZstdDecompress } from "node:zlib";
import type { ObjectEnd, ObjectHeader } from "./records.ts";
import { errorCode, messageOf } from "../../../lib/error.ts";

/** A file of one object, or of several consecutive ones. */
export interface ObjectFile {
  readonly path: string;
  /** Number of its first object. */
  readonly first: number;
  /** Number of its last object. */
  readonly last: number;
  /** Whether it has the whole account, so that no earlier object is needed. */
  readonly isFull: boolean;
  readonly sizeBytes: number;
}

/** An object that could not be read completely. */
export interface DamagedObject {
  readonly path: string;
  /** The reason. */
  readonly fault: string;
}

/** The result of reading a file. */
interface ObjectReadResult {
  /** Records that were read. */
  readonly records: number;
  /** Journal number up to which the last whole object is complete; undefined if none is whole. */
  readonly seq: number | undefined;
  /** When the last whole object was written; undefined if none is whole. */
  readonly writtenAtMs: number | undefined;
  /** Why the file is damaged; undefined if it is whole. Records before the damage were read. */
  readonly fault: string | undefined;
}

/** The folder of the account records. */
export const ACCOUNTS_FOLDER = "accounts";
/** The folder of objects that are newer than a restored database. */
export const NEWER_FOLDER = "newer";

/** Suffix of a folder in `newer/` whose objects `larder rebuild --newer` has applied. */
export const DONE = ".done";

const NAME = /^(\d{10})-(\d{10})(\.full)?\.jsonl\.zst$/;
const PARTIAL = ".part";
const BUFFER_BYTES = 1024 * 1024;
const LINE_END = "\n";

/** Path of the object with the account's own record. @param root `blobs/journal/` */
export function accountPath(root: string, publicId: string): string {
  return join(root, ACCOUNTS_FOLDER, `${publicId}.jsonl.zst`);
}

/** The name of the file that holds the objects with these numbers. */
export function objectName(first: number, last: number, isFull: boolean): string {
  return `${padded(first)}-${padded(last)}${isFull ? ".full" : ""}.jsonl.zst`;
}

/** The number of the last object in a file, by its name; 0 for any other name. */
export function lastNumberIn(name: string): number {
  return Number(NAME.exec(name)?.[2] ?? 0);
}

/** The whole objects in a folder, in order; none if the folder is missing. */
export async function listObjects(folder: string): Promise<ObjectFile[]> {
  const found: ObjectFile[] = [];
  for (const name of await namesIn(folder)) {
    const [, first, last, full] = NAME.exec(name) ?? [];
    if (first === undefined || last === undefined) continue;
    const path = join(folder, name);
    const { size } = await stat(path);
    found.push({ path, first: Number(first), last: Number(last), isFull: full !== undefined, sizeBytes: size });
  }
  return found.sort((a, b) => a.first - b.first || Number(b.isFull) - Number(a.isFull) || b.last - a.last);
}

/**
 * The files of one account that are needed, in the order in which they are to be read: the newest full object and all
 * that follow it. Files that a joined file replaces are left out.
 */
export function chooseObjects(files: readonly ObjectFile[]): ObjectFile[] {
  const full = files.filter(({ isFull }) => isFull).sort((a, b) => b.last - a.last)[0];
  const chosen: ObjectFile[] = full === undefined ? [] : [full];
  let covered = full?.last ?? 0;
  for (const file of files.toSorted((a, b) => a.first - b.first || b.last - a.last)) {
    if (file.isFull || file.last <= covered) continue;
    chosen.push(file);
    covered = file.last;
  }
  return chosen;
}

/** Deletes files that a crash or a full disk left half written. */
export async function sweepPartials(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (name.endsWith(PARTIAL)) await rm(join(folder, name), { force: true });
  }
}

/** Writes one object. It exists, whole and durable, once {@link finish} has resolved, and not before. */
export class ObjectWriter {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #hasher = new Bun.CryptoHasher("sha256");
  #records = 0;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** Begins an object. @throws the system's error */
  static async create(path: string, header: ObjectHeader): Promise<ObjectWriter> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const writer = new ObjectWriter(path, await open(path + PARTIAL, "w", 0o600));
    await writer.#write([header]);
    return writer;
  }

  /** Number of records written so far. */
  get records(): number {
    return this.#records;
  }

  /** Writes some records, compressed together. */
  async add(records: readonly object[]): Promise<void> {
    if (records.length === 0) return;
    await this.#write(records);
    this.#records += records.length;
  }

  /** Ends the object. @param seq journal number up to which it is complete @returns its size in bytes */
  async finish(seq: number): Promise<number> {
    const end: ObjectEnd = { end: true, records: this.#records, seq, sha256: this.#hasher.copy().digest("hex") };
    await this.#write([end]);
    const { size } = await this.#file.stat();
    await this.#file.sync();
    await this.#file.close();
    await rename(this.#path + PARTIAL, this.#path);
    await syncFolder(dirname(this.#path));
    return size;
  }

  /** Deletes the unfinished object; call after an error, or instead of {@link finish}. */
  async abandon(): Promise<void> {
    await this.#file.close();
    await rm(this.#path + PARTIAL, { force: true });
  }

  async #write(lines: readonly object[]): Promise<void> {
    const text = lines.map((line) => JSON.stringify(line) + LINE_END).join("");
    this.#hasher.update(text);
    await this.#file.writeFile(await Bun.zstdCompress(text));
  }
}

/** Reads a file buffer by buffer. Damage ends the reading. @param onRecord called for each record, in order */
export async function readObjects(path: string, onRecord: (record: unknown) => void): Promise<ObjectReadResult> {
  const checker = new LineChecker(onRecord);
  try {
    const stream = fs.createReadStream(path).pipe(createZstdDecompress());
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let rest = "";
    for await (const buffer of stream) {
      const lines = (rest + decoder.decode(buffer, { stream: true })).split(LINE_END);
      rest = lines.pop() ?? "";
      for (const line of lines) checker.add(line);
    }
    return checker.result(rest === "" ? undefined : "it ends in the middle of a line");
  } catch (error) {
    return checker.result(messageOf(error));
  }
}

/** Joins consecutive files into one; they are deleted once it is durable. */
export async function joinObjects(files: readonly ObjectFile[]): Promise<void> {
  const [first] = files;
  const last = files.at(-1);
  if (first === undefined || last === undefined || files.length < 2) return;
  const folder = dirname(first.path);
  const path = join(folder, objectName(first.first, last.last, false));
  const target = await open(path + PARTIAL, "w", 0o600);
  try {
    for (const file of files) await append(target, file.path);
    await target.sync();
  } finally {
    await target.close();
  }
  await rename(path + PARTIAL, path);
  await syncFolder(folder);
  for (const file of files) await rm(file.path, { force: true });
}

/** Makes new, renamed and deleted entries of a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Names in a folder, sorted; none if it is missing. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Whether an error says that a file or folder does not exist. */
export function isMissing(error: unknown): boolean {
  return errorCode(error) === "ENOENT";
}

/** Checks lines against the last one of their object. */
class LineChecker {
  readonly #onRecord: (record: unknown) => void;
  #hasher: Bun.CryptoHasher | undefined;
  #inObject = 0;
  #records = 0;
  #seq: number | undefined;
  #begunAtMs: number | undefined;
  #writtenAtMs: number | undefined;

  constructor(onRecord: (record: unknown) => void) {
    this.#onRecord = onRecord;
  }

  add(line: string): void {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) throw new Error("a line is not an object");
    if (this.#hasher === undefined) {
      if (!("larder" in value)) throw new Error("it has no valid beginning");
      this.#hasher = new Bun.CryptoHasher("sha256");
      this.#inObject = 0;
      this.#begunAtMs = "writtenAt" in value && typeof value.writtenAt === "number" ? value.writtenAt : undefined;
    } else if ("end" in value) {
      const isRight =
        "sha256" in value &&
        value.sha256 === this.#hasher.digest("hex") &&
        "records" in value &&
        value.records === this.#inObject;
      if (!isRight || !("seq" in value) || typeof value.seq !== "number")
        throw new Error("its checksum does not match");
      this.#seq = value.seq;
      this.#writtenAtMs = this.#begunAtMs;
      this.#hasher = undefined;
      return;
    } else {
      this.#onRecord(value);
      this.#inObject++;
      this.#records++;
    }
    this.#hasher.update(line + LINE_END);
  }

  result(fault: string | undefined): ObjectReadResult {
    const isCut = this.#hasher !== undefined || this.#seq === undefined;
    const missing = isCut ? "its end is missing" : undefined;
    return { records: this.#records, seq: this.#seq, writtenAtMs: this.#writtenAtMs, fault: fault ?? missing };
  }
}

async function append(target: FileHandle, path: string): Promise<void> {
  const source = await open(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, BUFFER_BYTES);
      if (bytesRead === 0) return;
      await target.writeFile(buffer.subarray(0, bytesRead));
    }
  } finally {
    await source.close();
  }
}

function padded(number: number): string {
  return String(number).padStart(10, "0");
}
