import type { Writer } from "../../../db/transaction.ts";
import { WriteBehind } from "../../../jobs/write-behind.ts";
import type { Log } from "../../../lib/log.ts";
import type { DeviceQueries } from "./queries.ts";

/** What {@link SyncTimes} works with. */
export interface SyncTimesOptions {
  readonly queries: DeviceQueries;
  readonly writer: Writer;
  readonly log: Log;
}

/**
 * When each device last asked for changes, written behind: exact for whoever reads it here, in the database within a
 * second, so that asking waits for no disk. What waits is bounded by the number of devices.
 */
export class SyncTimes {
  readonly #queries: DeviceQueries;
  readonly #writeBehind: WriteBehind<Map<number, number>>;
  #pending = new Map<number, number>();

  constructor({ queries, writer, log }: SyncTimesOptions) {
    this.#queries = queries;
    this.#writeBehind = new WriteBehind({
      writer,
      log,
      what: "last sync times",
      take: () => {
        const taken = this.#pending;
        this.#pending = new Map();
        return taken;
      },
      isWaiting: () => this.#pending.size > 0,
      write: (taken) => {
        for (const [deviceId, atMs] of taken) queries.noteSync(deviceId, atMs);
      },
      giveBack: (taken) => {
        // What arose meanwhile is newer.
        this.#pending = new Map([...taken, ...this.#pending]);
      },
    });
  }

  /** Notes that a device asks for changes now. */
  note(deviceId: number, atMs: number): void {
    this.#pending.set(deviceId, atMs);
    this.#writeBehind.note();
  }

  /** When the device last asked; undefined where never. */
  read(deviceId: number): number | undefined {
    return this.#pending.get(deviceId) ?? this.#queries.findById(deviceId)?.lastSyncAtMs ?? undefined;
  }

  /** Drops what waits of a device that begins anew. */
  forget(deviceId: number): void {
    this.#pending.delete(deviceId);
  }

  /** Writes what waits; at shutdown. */
  flush(): Promise<void> {
    return this.#writeBehind.flush();
  }
}
