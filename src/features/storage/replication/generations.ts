/**
 * The layout of a path of the replica, as Litestream 0.3 writes it. A generation is an unbroken history of the database:
 * snapshots, and segments of its write-ahead log, which have a position of 8 hex digits and an offset in it.
 *
 *     generations/0123456789abcdef/snapshots/00000000.snapshot.lz4
 *     generations/0123456789abcdef/wal/00000000_00001038.wal.lz4
 */

/** An object of the replica; its key begins with `generations/`. */
export interface ReplicaObject {
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
}

/** What a restore of one generation needs. */
export interface Generation {
  readonly id: string;
  /** The newest snapshot. */
  readonly snapshot: ReplicaObject;
  /** The segments after that snapshot, by position. */
  readonly segments: readonly ReplicaObject[];
  /** When its newest object was written, by the clock of the object store. */
  readonly modifiedAtMs: number;
}

/** One object by the parts of its key. */
interface ParsedObject extends ReplicaObject {
  readonly generation: string;
  readonly isSnapshot: boolean;
  readonly index: string;
}

const KEY =
  /^generations\/([0-9a-f]{16})\/(?:snapshots\/([0-9a-f]{8})\.snapshot|wal\/([0-9a-f]{8})_[0-9a-f]{8}\.wal)\.lz4$/;

/** The generation of an object; undefined if the key is not one of Litestream's. */
export function generationOf(key: string): string | undefined {
  return KEY.exec(key)?.[1];
}

/**
 * The key, after a path, of the object that names the current generation. The owner of the store writes it before it
 * confirms anything that only this generation has. Without it, the order of two generations is not certain: object
 * stores report the time of an object in whole seconds, by clocks that differ.
 */
export const GENERATION_MARKER = "generation";

/** The generation that a marker names. */
export function parseGenerationMarker(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes).trim();
  return /^[0-9a-f]{16}$/.test(text) ? text : undefined;
}

/**
 * The generation to restore, of those that have a snapshot.
 * @param marked the one that the marker names; without it, the one that was written last
 */
export function findNewestGeneration(
  objects: Iterable<ReplicaObject>,
  marked: string | undefined,
): Generation | undefined {
  const byGeneration = new Map<string, ParsedObject[]>();
  for (const object of objects) {
    const parsed = parse(object);
    if (parsed === undefined) continue;
    const others = byGeneration.get(parsed.generation);
    if (others === undefined) byGeneration.set(parsed.generation, [parsed]);
    else others.push(parsed);
  }
  const generations = [...byGeneration.values()].map(toGeneration).filter((generation) => generation !== undefined);
  return (
    generations.find(({ id }) => id === marked) ??
    generations.toSorted(
      (a, b) => b.modifiedAtMs - a.modifiedAtMs || b.snapshot.modifiedAtMs - a.snapshot.modifiedAtMs,
    )[0]
  );
}

function parse(object: ReplicaObject): ParsedObject | undefined {
  const [, generation, snapshot, segment] = KEY.exec(object.key) ?? [];
  const index = snapshot ?? segment;
  if (generation === undefined || index === undefined) return undefined;
  return { ...object, generation, isSnapshot: snapshot !== undefined, index };
}

function toGeneration(objects: readonly ParsedObject[]): Generation | undefined {
  const byKey = objects.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const snapshot = byKey.findLast(({ isSnapshot }) => isSnapshot);
  if (snapshot === undefined) return undefined;
  return {
    id: snapshot.generation,
    snapshot,
    segments: byKey.filter(({ isSnapshot, index }) => !isSnapshot && index >= snapshot.index),
    modifiedAtMs: objects.reduce((newest, { modifiedAtMs }) => Math.max(newest, modifiedAtMs), 0),
  };
}
