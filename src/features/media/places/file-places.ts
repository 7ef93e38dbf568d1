import type { Database } from "bun:sqlite";
import { ELSEWHERE_ID, type Town } from "./types.ts";

/** A file whose town is to be found. */
export interface QueuedPlace {
  readonly nodeId: number;
  /** Latitude and longitude in the metadata of the file, as entered; null for none. */
  readonly location: string | null;
}

/** The rows of `file_places` and `place_queue`, and the towns of `places`. Changes are made inside a transaction. */
export class FilePlaces {
  readonly #next;
  readonly #hasQueued;
  readonly #dequeue;
  readonly #putTown;
  readonly #put;
  readonly #remove;
  readonly #find;

  constructor(sqlite: Database) {
    this.#next = sqlite.prepare<QueuedPlace, [number]>(
      `SELECT q.node_id AS nodeId, json_extract(n.metadata, '$.location') AS location
       FROM place_queue q LEFT JOIN nodes n ON n.id = q.node_id LIMIT ?1`,
    );
    this.#hasQueued = sqlite.prepare<{ has: number }, []>("SELECT EXISTS (SELECT 1 FROM place_queue) AS has");
    this.#dequeue = sqlite.prepare<undefined, [number]>("DELETE FROM place_queue WHERE node_id = ?1");
    this.#putTown = sqlite.prepare<undefined, [number, string, string | null, string, number, number]>(
      `INSERT INTO places (id, name, region, country, latitude, longitude) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (id) DO UPDATE SET name = ?2, region = ?3, country = ?4, latitude = ?5, longitude = ?6
         WHERE (name, region, country, latitude, longitude) IS NOT (?2, ?3, ?4, ?5, ?6)`,
    );
    this.#put = sqlite.prepare<undefined, [number, number]>(
      "INSERT OR REPLACE INTO file_places (node_id, place_id) VALUES (?1, ?2)",
    );
    this.#remove = sqlite.prepare<undefined, [number]>("DELETE FROM file_places WHERE node_id = ?1");
    this.#find = sqlite.prepare<Town, [number, number]>(
      `SELECT p.id, p.name, p.region, p.country, p.latitude, p.longitude FROM file_places f CROSS JOIN places p
         ON p.id = f.place_id WHERE f.node_id = ?1 AND p.id <> ?2`,
    );
  }

  next(limit: number): QueuedPlace[] {
    return this.#next.all(limit);
  }

  hasQueued(): boolean {
    return this.#hasQueued.get()?.has === 1;
  }

  /** The town of a file, by the location in its metadata; undefined if unknown. */
  find(nodeId: number): Town | undefined {
    return this.#find.get(nodeId, ELSEWHERE_ID) ?? undefined;
  }

  /** Stores the place of a file and removes it from the queue. @param place null without a location */
  put(nodeId: number, place: Town | "elsewhere" | null): void {
    this.#dequeue.run(nodeId);
    if (place === null) this.#remove.run(nodeId);
    else this.#put.run(nodeId, this.putTown(place));
  }

  /** Stores a town. @returns its id */
  putTown(place: Town | "elsewhere"): number {
    if (place === "elsewhere") return ELSEWHERE_ID;
    const { id, name, region, country, latitude, longitude } = place;
    this.#putTown.run(id, name, region, country, latitude, longitude);
    return id;
  }
}
