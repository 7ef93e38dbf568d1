import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Digest } from "./digest.ts";

/** A derived file that exists and is whole. */
export interface DerivedFile {
  readonly path: string;
  readonly sizeBytes: number;
}

/** Bytes of a RIFF header up to and with the form type: "RIFF", length, "WEBP" (RFC 9649 §2.4). */
const HEADER_BYTES = 12;

/**
 * Files that can be made again from a blob: WebP images, by digest and variant, under `<directory>/ab/cd/`.
 *
 * The whole directory may be deleted at any time, also while the server runs: missing files are made again. A file is
 * either whole or missing; half-written ones are in `.tmp/` under names of their own and are deleted at start. Several
 * processes may write at the same time: the last of equal results stays.
 */
export class DerivedStore {
  /** `<data directory>/thumbs` */
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Path of a variant of a blob, which may be missing. */
  path(digest: Digest, variant: string): string {
    return join(this.directory, digest.slice(0, 2), digest.slice(2, 4), `${digest}.${variant}.webp`);
  }

  /**
   * Finds a variant that is whole: the length in its header is the length of the file. An empty, truncated or foreign file
   * counts as missing. Reads 12 bytes synchronously (some 10 µs).
   *
   * @throws the system's error when the directory can't be read for another reason than absence
   */
  find(digest: Digest, variant: string): DerivedFile | undefined {
    const path = this.path(digest, variant);
    const file = openIfThere(path);
    if (file === undefined) return undefined;
    try {
      const header = Buffer.alloc(HEADER_BYTES);
      if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return undefined;
      const sizeBytes = fstatSync(file).size;
      return isWholeWebp(header, sizeBytes) ? { path, sizeBytes } : undefined;
    } finally {
      closeSync(file);
    }
  }

  /**
   * Finds another kind of file made from a blob, such as an image without its metadata: `<directory>/<kind>/<digest>`. It is
   * whole or missing, because the folder entry comes after the bytes. @throws as {@link find}
   */
  findOther(digest: Digest, kind: string): DerivedFile | undefined {
    const path = join(this.directory, kind, digest);
    const file = openIfThere(path);
    if (file === undefined) return undefined;
    try {
      return { path, sizeBytes: fstatSync(file).size };
    } finally {
      closeSync(file);
    }
  }

  /** Reads a small variant found by {@link find}, synchronously. @throws the system's error if it was deleted since */
  read(file: DerivedFile): Buffer<ArrayBuffer> {
    const bytes = Buffer.allocUnsafeSlow(file.sizeBytes);
    const descriptor = openSync(file.path, "r");
    try {
      readSync(descriptor, bytes, 0, file.sizeBytes, 0);
    } finally {
      closeSync(descriptor);
    }
    return bytes;
  }

  /**
   * Stores a variant. On return it is on disk under its name; after an error nothing of it is left behind.
   * @throws the system's error (ENOSPC, EACCES …)
   */
  async put(digest: Digest, variant: string, bytes: Uint8Array): Promise<DerivedFile> {
    return this.#write(digest, variant, this.path(digest, variant), bytes);
  }

  /** Stores another kind of file, for {@link findOther}. @throws as {@link put} */
  async putOther(digest: Digest, kind: string, bytes: Uint8Array): Promise<DerivedFile> {
    return this.#write(digest, kind, join(this.directory, kind, digest), bytes);
  }

  /** Deletes files of another kind that were made before a time; they are made again on request. @returns how many */
  async sweepOther(kind: string, madeBeforeMs: number): Promise<number> {
    const folder = join(this.directory, kind);
    let removed = 0;
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
      if (mtimeMs >= madeBeforeMs) continue;
      await rm(path, { force: true });
      removed++;
    }
    return removed;
  }

  async #write(digest: Digest, variant: string, path: string, bytes: Uint8Array): Promise<DerivedFile> {
    const temporary = join(this.directory, ".tmp", `${digest}.${variant}.${randomBytes(6).toString("hex")}`);
    try {
      await withFolders([temporary, path], async () => {
        const file = await open(temporary, "w", 0o600);
        try {
          await file.writeFile(bytes);
          await file.datasync();
        } finally {
          await file.close();
        }
        await rename(temporary, path);
      });
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    return { path, sizeBytes: bytes.byteLength };
  }

  /** Deletes these variants of a blob. Missing ones are ignored. */
  remove(digest: Digest, variants: readonly string[]): void {
    for (const variant of variants) rmSync(this.path(digest, variant), { force: true });
  }

  /** Deletes files that a killed process left half-written. Call at start, before the first `put`. */
  async sweep(): Promise<void> {
    await rm(join(this.directory, ".tmp"), { recursive: true, force: true });
  }
}

/** Names of the files in a folder; none if the folder is missing. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

function isWholeWebp(header: Buffer, sizeBytes: number): boolean {
  return (
    header.toString("latin1", 0, 4) === "RIFF" &&
    header.toString("latin1", 8, 12) === "WEBP" &&
    header.readUInt32LE(4) + 8 === sizeBytes
  );
}

/** Runs `write`; if a folder is missing, makes the folders of `paths` and runs it again. */
async function withFolders(paths: readonly string[], write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isAbsence(error)) throw error;
    for (const path of paths) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await write();
  }
}
