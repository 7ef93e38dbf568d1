/** Properties that WebDAV clients store with files and folders: "dead properties" (RFC 4918 section 4.2). */
import type { Database } from "bun:sqlite";

/** A stored property. */
export interface DeadProperty {
  /** URI of the XML namespace; empty for none. */
  readonly namespace: string;
  readonly name: string;
  /** The whole property element as XML. It declares every namespace that it uses. */
  readonly value: string;
}

/** A property to store, or to remove (`value` null). */
export interface PropertyChange {
  readonly namespace: string;
  readonly name: string;
  readonly value: string | null;
}

/** Bytes that the namespaces, names and values of the properties of one node may take in UTF-8. */
export const PROPERTY_BYTES_MAX = 64 * 1024;

/** Bytes that the properties to store take, as {@link PROPERTY_BYTES_MAX} counts them. */
export function sizeOfChanges(changes: readonly PropertyChange[]): number {
  const stored = changes.map(({ namespace, name, value }) => (value === null ? "" : namespace + name + value));
  return Buffer.byteLength(stored.join(""));
}

/** The rows of `node_properties`. Changes run inside a transaction. The database deletes them with the node. */
export class Properties {
  readonly #of;
  readonly #set;
  readonly #remove;
  readonly #sizeOf;
  readonly #hasAny;
  readonly #clear;
  readonly #copy;

  constructor(sqlite: Database) {
    this.#of = sqlite.prepare<DeadProperty & { node_id: number }, [string]>(
      `SELECT p.node_id, p.namespace, p.name, p.value FROM json_each(?1) j CROSS JOIN node_properties p
         ON p.node_id = j.value ORDER BY p.node_id, p.namespace, p.name`,
    );
    this.#set = sqlite.prepare<undefined, [number, string, string, string]>(
      `INSERT INTO node_properties (node_id, namespace, name, value) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (node_id, namespace, name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`,
    );
    this.#remove = sqlite.prepare<undefined, [number, string, string]>(
      "DELETE FROM node_properties WHERE node_id = ?1 AND namespace = ?2 AND name = ?3",
    );
    this.#sizeOf = sqlite.prepare<{ bytes: number }, [number]>(
      `SELECT ifnull(sum(octet_length(namespace) + octet_length(name) + octet_length(value)), 0) AS bytes
       FROM node_properties WHERE node_id = ?1`,
    );
    this.#hasAny = sqlite.prepare<{ found: number }, []>("SELECT EXISTS (SELECT 1 FROM node_properties) AS found");
    this.#clear = sqlite.prepare<undefined, [number]>("DELETE FROM node_properties WHERE node_id = ?1");
    this.#copy = sqlite.prepare<undefined, [number, number]>(
      `INSERT INTO node_properties (node_id, namespace, name, value)
       SELECT ?2, namespace, name, value FROM node_properties WHERE node_id = ?1`,
    );
  }

  /** The properties of these nodes, by row id. Nodes without any are left out. */
  of(nodeIds: readonly number[]): Map<number, DeadProperty[]> {
    const found = new Map<number, DeadProperty[]>();
    // Most stores have none. This spares a listing the look-up of each node.
    if (this.#hasAny.get()?.found === 0) return found;
    for (const { node_id: nodeId, ...property } of this.#of.all(JSON.stringify(nodeIds))) {
      const known = found.get(nodeId);
      if (known === undefined) found.set(nodeId, [property]);
      else known.push(property);
    }
    return found;
  }

  /** Stores a property, or removes it. @returns whether that changed anything */
  change(nodeId: number, { namespace, name, value }: PropertyChange): boolean {
    const { changes } =
      value === null ? this.#remove.run(nodeId, namespace, name) : this.#set.run(nodeId, namespace, name, value);
    return changes > 0;
  }

  /** Bytes of all properties of a node, as {@link PROPERTY_BYTES_MAX} counts them. */
  sizeOf(nodeId: number): number {
    return this.#sizeOf.get(nodeId)?.bytes ?? 0;
  }

  /** Gives a node the properties of another, and no others. */
  copy(fromId: number, toId: number): void {
    // Most stores have none. This spares a large copy two statements for each node.
    if (fromId === toId || this.#hasAny.get()?.found === 0) return;
    this.#clear.run(toId);
    this.#copy.run(fromId, toId);
  }
}
