/**
 * A copy of one path of the replica on this disk, as a folder from which Litestream restores. It has only what a restore
 * needs: the newest snapshot of the newest generation, and the segments after it.
 *
 * A round costs two requests if nothing is new: keys of segments grow, so a listing begins at the last one. Other rounds look
 * for a new snapshot, so that objects before it can be removed.
 */
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import type { S3Client } from "../../../blobs/s3/client.ts";
import { S3Error } from "../../../blobs/s3/error.ts";
import {
  findNewestGeneration,
  type Generation,
  GENERATION_MARKER,
  generationOf,
  parseGenerationMarker,
  type ReplicaObject,
} from "./generations.ts";

/** Dependencies of {@link ReplicaMirror}. */
interface MirrorOptions {
  readonly client: Pick<S3Client, "get" | "getSmall" | "list">;
  /** The prefix of the keys of the path, with a slash at its end. */
  readonly prefix: string;
  /** The folder of the copy; created when something is copied. */
  readonly folder: string;
}

/** What a round looks for. */
export type RoundKind =
  /** Segments after the last known one, perhaps not all of them. */
  | "quick"
  /** All segments after the last known one. */
  | "exact"
  /** The newest snapshot, and all segments after it. */
  | "snapshot";

/** How a round is made. */
export interface MirrorRound {
  readonly kind: RoundKind;
  readonly signal?: AbortSignal | undefined;
  /** Called for each copied buffer. */
  readonly onProgress?: ((copiedBytes: number, totalBytes: number) => void) | undefined;
}

/** Transfers at a time: segments are small, so their latency decides. */
const TRANSFERS = 12;
/** The most objects that a service lists at a time. */
const PAGE = 1_000;
/** Litestream removes old objects, perhaps between the listing and the transfer. Then the round begins again. */
const ATTEMPTS = 5;

/** The copy of one path. One round at a time. */
export class ReplicaMirror {
  readonly #options: MirrorOptions;
  /** The generation that the copy has completely. */
  #copied: Generation | undefined;
  /** Objects that are known to be in the folder, by key. */
  readonly #present = new Map<string, ReplicaObject>();

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  /** The folder, as Litestream's `file` replica. */
  get folder(): string {
    return this.#options.folder;
  }

  /** What can be restored from the folder; undefined before the first round, or if the path has no snapshot. */
  get generation(): Generation | undefined {
    return this.#copied;
  }

  /** Whether the path has something to restore. Copies nothing. @throws S3Error */
  async hasData(): Promise<boolean> {
    const marked = await this.#readMarker();
    if (marked !== undefined && (await this.#list(snapshotsOf(marked))).length > 0) return true;
    return findNewestGeneration(await this.#list(""), marked) !== undefined;
  }

  /** Copies what is new. @returns the number of copied bytes @throws S3Error */
  async update(round: MirrorRound): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      const generation = await this.#find(attempt > 1 ? "snapshot" : round.kind);
      if (generation === undefined) return 0;
      try {
        const bytes = await this.#copy(generation, round);
        this.#copied = generation;
        return bytes;
      } catch (error) {
        const isGone = error instanceof S3Error && error.problem === "absent";
        if (!isGone || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Removes what a restore of the copied generation does not need, such as the objects before a new snapshot. */
  prune(): void {
    const { folder } = this.#options;
    if (this.#copied === undefined || !fs.existsSync(folder)) return;
    const needed = new Set(needs(this.#copied).map(({ key }) => key));
    for (const key of this.#present.keys()) if (!needed.has(key)) this.#present.delete(key);
    for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isDirectory()) continue;
      const path = join(entry.parentPath, entry.name);
      if (!needed.has(path.slice(folder.length + 1))) fs.rmSync(path);
    }
  }

  /** Removes the folder. The next round copies everything again. */
  clear(): void {
    this.#copied = undefined;
    this.#present.clear();
    fs.rmSync(this.#options.folder, { recursive: true, force: true });
  }

  /** The newest generation in the object store; undefined if there is none. */
  async #find(kind: RoundKind): Promise<Generation | undefined> {
    const marked = await this.#readMarker();
    const known = this.#copied;
    if (known !== undefined && kind !== "snapshot" && (marked ?? known.id) === known.id) {
      // A failed request may have written the last segment. Then Litestream writes it again, and longer.
      const from = known.segments.at(-2)?.key ?? segmentsFrom(known);
      const found = await this.#list(marked === undefined ? "" : segmentsOf(marked), from, kind === "quick" ? PAGE : 1);
      if (found.every(({ key }) => generationOf(key) === known.id)) return extend(known, found);
    }
    return (await this.#findMarked(marked)) ?? findNewestGeneration(await this.#list(""), marked);
  }

  /** The generation that the marker names. Lists only its snapshots, and the segments after the newest one. */
  async #findMarked(marked: string | undefined): Promise<Generation | undefined> {
    if (marked === undefined) return undefined;
    const newest = findNewestGeneration(await this.#list(snapshotsOf(marked)), marked);
    return newest && extend(newest, await this.#list(segmentsOf(marked), segmentsFrom(newest)));
  }

  async #readMarker(): Promise<string | undefined> {
    const { client, prefix } = this.#options;
    const marker = await client.getSmall(prefix + GENERATION_MARKER);
    return marker === undefined ? undefined : parseGenerationMarker(marker);
  }

  /**
   * Lists the objects in a folder after a key.
   * @param fullPage a page with fewer objects is the last one. Only an empty page is certain to be: a service may send
   *   fewer objects than it has
   */
  async #list(folder: string, after = "", fullPage = 1): Promise<ReplicaObject[]> {
    const { client, prefix } = this.#options;
    const objects: ReplicaObject[] = [];
    for (let last = after === "" ? "" : prefix + after; ; ) {
      const page = await client.list(prefix + folder, last);
      for (const object of page) objects.push({ ...object, key: object.key.slice(prefix.length) });
      last = page.at(-1)?.key ?? "";
      if (page.length < fullPage) return objects.filter(({ key }) => generationOf(key) !== undefined);
    }
  }

  async #copy(generation: Generation, { signal, onProgress }: MirrorRound): Promise<number> {
    const missing = needs(generation).filter((object) => !this.#has(object));
    const totalBytes = missing.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    let copiedBytes = 0;
    const queue = missing.values();
    const transfer = async () => {
      for (const object of queue) {
        signal?.throwIfAborted();
        for await (const bytes of this.#fetch(object)) {
          copiedBytes += bytes;
          onProgress?.(copiedBytes, totalBytes);
        }
      }
    };
    const transfers = Array.from({ length: Math.min(TRANSFERS, missing.length) }, transfer);
    // All of them end before an error is passed on: none may write after that.
    const failed = (await Promise.allSettled(transfers)).find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return copiedBytes;
  }

  /** Whether the folder has an object. A segment that was written again differs in its length or its time. */
  #has(object: ReplicaObject): boolean {
    const { key, sizeBytes, modifiedAtMs } = object;
    const known = this.#present.get(key);
    if (known !== undefined) return known.sizeBytes === sizeBytes && known.modifiedAtMs === modifiedAtMs;
    const found = fs.statSync(join(this.#options.folder, key), { throwIfNoEntry: false });
    const isPresent = found?.size === sizeBytes && Math.abs(found.mtimeMs - modifiedAtMs) < 1;
    if (isPresent) this.#present.set(key, object);
    return isPresent;
  }

  /** Copies one object. Its file has its name only when it is complete. Yields the size of each buffer. */
  async *#fetch(object: ReplicaObject): AsyncGenerator<number, void, undefined> {
    const { key, sizeBytes, modifiedAtMs } = object;
    const { client, prefix, folder } = this.#options;
    const path = join(folder, key);
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const unfinished = `${path}.part`;
    const file = await fs.promises.open(unfinished, "w", 0o600);
    try {
      for await (const buffer of await client.get(prefix + key, 0, sizeBytes)) {
        await file.writeFile(buffer);
        yield buffer.length;
      }
      await file.utimes(modifiedAtMs / 1_000, modifiedAtMs / 1_000);
    } finally {
      await file.close();
    }
    fs.renameSync(unfinished, path);
    this.#present.set(key, object);
  }
}

function snapshotsOf(generation: string): string {
  return `generations/${generation}/snapshots/`;
}

function segmentsOf(generation: string): string {
  return `generations/${generation}/wal/`;
}

/** A key directly before those of the segments that a restore of the snapshot needs. */
function segmentsFrom({ id, snapshot }: Generation): string {
  const name = snapshot.key.slice(snapshotsOf(id).length);
  return segmentsOf(id) + name.slice(0, name.indexOf("."));
}

function needs({ snapshot, segments }: Generation): ReplicaObject[] {
  return [snapshot, ...segments];
}

/** A generation with segments that were found after some of its own. */
function extend(known: Generation, found: readonly ReplicaObject[]): Generation {
  const byKey = new Map([known.snapshot, ...known.segments, ...found].map((object) => [object.key, object]));
  return findNewestGeneration(byKey.values(), known.id) ?? known;
}
