import type { Writer } from "../../../db/transaction.ts";
import { WriteBehind } from "../../../jobs/write-behind.ts";
import type { Log } from "../../../lib/log.ts";
import type { DeviceQueries } from "./queries.ts";

/** Options of {@link SyncTimes}. */
interface SyncTimesOptions {
  readonly queries: DeviceQueries;
  readonly writer: Writer;
  readonly log: Log;
}

/**
 * The time of the last sync of each device. It is exact here, and written to the database within a second, so that a
 * sync waits for no disk. The number of devices bounds the number of pending times.
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
        // The pending times are newer.
        this.#pending = new Map([...taken, ...this.#pending]);
      },
    });
  }

  /** Records a sync of a device. */
  note(deviceId: number, atMs: number): void {
    this.#pending.set(deviceId, atMs);
    this.#writeBehind.note();
  }

  /** The time of the device's last sync; undefined if there was none. */
  read(deviceId: number): number | undefined {
    return this.#pending.get(deviceId) ?? this.#queries.findById(deviceId)?.lastSyncAtMs ?? undefined;
  }

  /** Drops the pending time of a device that is registered again. */
  forget(deviceId: number): void {
    this.#pending.delete(deviceId);
  }

  /** Writes pending times; call it at shutdown. */
  flush(): Promise<void> {
    return this.#writeBehind.flush();
  }
}
