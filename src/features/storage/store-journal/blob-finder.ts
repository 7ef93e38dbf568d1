import { mkdir, rename } from "node:fs/promises";
import { statSync } from "node:fs";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import { type Digest, toDigest } from "../../../blobs/digest.ts";
import type { Layout } from "../../../blobs/layout.ts";
import { digestOf } from "../../../db/snapshot.ts";
import { syncFolder } from "./object-file.ts";
import type { ContentRecord } from "./records.ts";

/** File names reported for one missing blob. */
const NAMES_MAX = 5;

/** Finds blobs in the store and in quarantine, returns those in quarantine to the store, and collects missing ones. */
export class BlobFinder {
  readonly #blobs: Pick<BlobStore, "stat">;
  readonly #layout: Layout;
  readonly #isDryRun: boolean;
  readonly missing = new Map<Digest, { readonly sizeBytes: number; readonly names: string[] }>();
  returned = 0;

  /** @param isDryRun whether blobs stay in quarantine */
  constructor(blobs: Pick<BlobStore, "stat">, layout: Layout, isDryRun: boolean) {
    this.#blobs = blobs;
    this.#layout = layout;
    this.#isDryRun = isDryRun;
  }

  /**
   * @param name of the file, for the report of missing blobs
   * @returns whether the store has the blob, or has it again
   */
  async find({ sha256, size }: ContentRecord, name: string): Promise<boolean> {
    const digest = toDigest(sha256);
    if (this.#blobs.stat(digest)?.sizeBytes === size) return true;
    if (await this.#returnFromQuarantine(digest, size)) return true;
    const known = this.missing.get(digest);
    if (known === undefined) this.missing.set(digest, { sizeBytes: size, names: [name] });
    else if (known.names.length < NAMES_MAX && !known.names.includes(name)) known.names.push(name);
    return false;
  }

  /** Checks the digest of the file in quarantine first. */
  async #returnFromQuarantine(digest: Digest, sizeBytes: number): Promise<boolean> {
    const from = this.#layout.quarantined(digest);
    const found = statSync(from, { throwIfNoEntry: false });
    if (found?.isFile() !== true || found.size !== sizeBytes || digestOf(from) !== digest) return false;
    if (this.#isDryRun) return true;
    const [folder, ...above] = this.#layout.foldersOf(digest);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await rename(from, this.#layout.blob(digest));
    for (const changed of [folder, ...above]) await syncFolder(changed);
    this.returned++;
    return true;
  }
}
