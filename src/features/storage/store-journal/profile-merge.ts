/**
 * Merges the pictures and pins in the records of accounts. The later picture counts, and a picture that is missing in a
 * later record was removed. Nothing says when a pin was removed, so pins are only added.
 */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import { changePins, PINS_MAX, readPins } from "../../accounts/users/settings.ts";
import { putAvatar } from "./avatar-rows.ts";
import { ChangeBatches } from "./change-batches.ts";
import type { AccountRecord } from "./records.ts";

/** Dependencies of {@link ProfileMerge}. */
interface ProfileMergeOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly isDryRun: boolean;
}

/** What was merged. */
export interface ProfileMergeCounts {
  /** Pictures of people that were set or replaced. */
  pictures: number;
  /** Pictures of people that were removed. */
  removed: number;
  /** Pins that were added. */
  pins: number;
}

interface ProfileRow {
  readonly id: number;
  readonly settings: string;
  /** When the picture was set; null without one. */
  readonly changedAtMs: number | null;
}

/** Merges pictures and pins of existing accounts. */
export class ProfileMerge {
  readonly #options: ProfileMergeOptions;
  readonly #find;
  readonly #removePicture;
  readonly #setSettings;
  readonly #batches: ChangeBatches;
  readonly counts: ProfileMergeCounts = { pictures: 0, removed: 0, pins: 0 };

  constructor(options: ProfileMergeOptions) {
    this.#options = options;
    this.#batches = new ChangeBatches(options.isDryRun ? undefined : options.writer);
    const { sqlite } = options;
    this.#find = sqlite.prepare<ProfileRow, [string]>(
      `SELECT u.id, u.settings, p.changed_at AS changedAtMs FROM users u LEFT JOIN avatars p ON p.user_id = u.id
       WHERE u.public_id = ?1 AND u.email <> ''`,
    );
    this.#removePicture = sqlite.prepare<undefined, [number]>("DELETE FROM avatars WHERE user_id = ?1");
    this.#setSettings = sqlite.prepare<undefined, [number, string]>("UPDATE users SET settings = ?2 WHERE id = ?1");
  }

  /** Merges a record. @param writtenAtMs when it was written; 0 if that is unknown */
  async merge(record: AccountRecord, writtenAtMs: number): Promise<void> {
    const profile = this.#find.get(record.account);
    if (profile === null) return;
    this.#mergePicture(profile, record, writtenAtMs);
    this.#mergePins(profile, record);
    await this.#batches.run();
  }

  #mergePicture({ id, changedAtMs }: ProfileRow, { avatar }: AccountRecord, writtenAtMs: number): void {
    if (avatar !== undefined) {
      if (changedAtMs !== null && avatar.changed <= changedAtMs) return;
      this.counts.pictures++;
      this.#batches.add(() => putAvatar(this.#options.sqlite, id, avatar));
    } else if (changedAtMs !== null && writtenAtMs > changedAtMs) {
      this.counts.removed++;
      this.#batches.add(() => this.#removePicture.run(id));
    }
  }

  #mergePins({ id, settings }: ProfileRow, record: AccountRecord): void {
    const pins = readPins(settings);
    const merged = [...new Set([...pins, ...recordedPins(record)])].slice(0, Math.max(pins.length, PINS_MAX));
    if (merged.length === pins.length) return;
    this.counts.pins += merged.length - pins.length;
    this.#batches.add(() =>
      this.#setSettings.run(
        id,
        changePins(settings, () => merged),
      ),
    );
  }
}

/** The pins among the settings of a record, which may be damaged. */
function recordedPins({ settings }: AccountRecord): string[] {
  if (typeof settings !== "object" || settings === null || !("pins" in settings)) return [];
  const { pins } = settings;
  return Array.isArray(pins) ? pins.filter((pin) => typeof pin === "string") : [];
}
