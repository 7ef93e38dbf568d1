/**
 * Pictures of people. An image is decoded and encoded again in a process of its own, and only that result is stored, in
 * the database. People see the pictures of those whom they can find, and of those with whom they share something now.
 */
import { createHash } from "node:crypto";
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import type { PeopleService } from "../../accounts/people/service.ts";
import type { User } from "../../accounts/users/types.ts";
import { isInSharedGroup, sharingAccounts } from "../../library/permissions/recipients.ts";
import type { EditProcess } from "../../media/editing/edit-process.ts";

/** Dependencies of {@link AvatarService}. */
interface AvatarServiceOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly clock: Clock;
  readonly people: Pick<PeopleService, "isOn">;
  readonly editProcess: Pick<EditProcess, "makeAvatar">;
}

/** Which of the pictures of a person; also their size in pixels. */
export type AvatarSize = "64" | "256";

/** One picture of a person. */
export interface Avatar {
  /** WebP. */
  readonly bytes: Uint8Array;
  /** Differs for each picture. */
  readonly version: string;
  readonly changedAtMs: number;
}

/** A person whose picture somebody may see. */
interface PersonWithAvatar {
  /** `usr_…` */
  readonly id: string;
  readonly version: string;
}

interface AvatarRow {
  readonly bytes: Uint8Array;
  readonly version: string;
  readonly changedAtMs: number;
}

/** Most people that are listed. */
const LISTED_MAX = 1_000;

const VERSION = "substr(lower(hex(a.digest)), 1, 16)";
const COLUMNS = `CASE ?1 WHEN '64' THEN a.small ELSE a.large END AS bytes, ${VERSION} AS version, a.changed_at AS changedAtMs`;

/**
 * Condition: an account may see the picture of the person `u`. `?1` is the account, `?2` the time, `?3` 1 if it is an
 * administrator, `?4` 1 if accounts find each other. Of a disabled person, only administrators see the picture.
 */
const IS_VISIBLE = `u.email <> '' AND (u.id = ?1 OR ?3 = 1 OR (u.disabled_at IS NULL AND (
  (?4 = 1 AND u.email_unconfirmed_since IS NULL) OR u.id IN (SELECT id FROM ${sharingAccounts("?1", "?2")})
  OR ${isInSharedGroup("?1", "u.id", "?2")})))`;

type Viewer = [number, number, number, number];

/** Stores and finds pictures of people. All writes are durable when a promise resolves. */
export class AvatarService {
  readonly #options: AvatarServiceOptions;
  /** Accounts whose image is being received or encoded. */
  readonly #inProgress = new Set<number>();
  readonly #versionOf;
  readonly #isThere;
  readonly #store;
  readonly #remove;
  readonly #visible;
  readonly #isVisible;
  readonly #picture;

  constructor(options: AvatarServiceOptions) {
    this.#options = options;
    const { sqlite } = options;
    this.#versionOf = sqlite.prepare<{ version: string }, [number]>(
      `SELECT ${VERSION} AS version FROM avatars a WHERE user_id = ?1`,
    );
    this.#isThere = sqlite.prepare<{ one: 1 }, [number]>("SELECT 1 AS one FROM users WHERE id = ?1 AND email <> ''");
    this.#store = sqlite.prepare<undefined, [number, Uint8Array, Uint8Array, Uint8Array, number]>(
      `INSERT INTO avatars (user_id, digest, large, small, changed_at) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (user_id) DO UPDATE SET digest = ?2, large = ?3, small = ?4, changed_at = ?5`,
    );
    this.#remove = sqlite.prepare<undefined, [number]>("DELETE FROM avatars WHERE user_id = ?1");
    this.#visible = sqlite.prepare<PersonWithAvatar, Viewer>(
      `SELECT u.public_id AS id, ${VERSION} AS version FROM avatars a CROSS JOIN users u ON u.id = a.user_id
       WHERE ${IS_VISIBLE} ORDER BY u.id LIMIT ${LISTED_MAX}`,
    );
    this.#isVisible = sqlite.prepare<{ id: number }, [...Viewer, string]>(
      `SELECT u.id FROM users u WHERE u.public_id = ?5 AND ${IS_VISIBLE}`,
    );
    this.#picture = sqlite.prepare<AvatarRow, [AvatarSize, number]>(
      `SELECT ${COLUMNS} FROM avatars a WHERE a.user_id = ?2`,
    );
  }

  /** The version of the picture of an account; null without one. */
  versionOf(userId: number): string | null {
    return this.#versionOf.get(userId)?.version ?? null;
  }

  /**
   * Makes an image the picture of an account.
   * @param read receives the image
   * @throws AppError unsupported_media_type if it is no image that can be read; overloaded; what `read` throws
   */
  async set(user: User, read: () => Promise<Uint8Array>): Promise<void> {
    const { writer, clock, editProcess } = this.#options;
    // An image is in memory until it is encoded.
    if (this.#inProgress.has(user.id)) throw inProgress();
    this.#inProgress.add(user.id);
    try {
      const { large, small } = await editProcess.makeAvatar(user.id, await read());
      const digest = createHash("sha256").update(large).update(small).digest();
      await writer.run(() => {
        if (this.#isThere.get(user.id) !== null) this.#store.run(user.id, digest, large, small, clock.nowMs());
      });
    } finally {
      this.#inProgress.delete(user.id);
    }
  }

  /** Removes the picture of an account, if it has one. @returns whether it had one */
  async remove(userId: number): Promise<boolean> {
    return this.#options.writer.run(() => this.#remove.run(userId).changes > 0);
  }

  /** The people with a picture that somebody may see; at most 1,000. */
  visibleTo(viewer: User): PersonWithAvatar[] {
    return this.#visible.all(...this.#asViewer(viewer));
  }

  /** The picture of a person; undefined without one, and if `viewer` may not see it. */
  find(viewer: User, publicId: string, size: AvatarSize): Avatar | undefined {
    const person = this.#isVisible.get(...this.#asViewer(viewer), publicId);
    return person === null ? undefined : this.read(person.id, size);
  }

  /** The picture of an account. The caller checks permissions. */
  read(userId: number, size: AvatarSize): Avatar | undefined {
    return this.#picture.get(size, userId) ?? undefined;
  }

  #asViewer({ id, role }: User): Viewer {
    const { clock, people } = this.#options;
    return [id, clock.nowMs(), role === "admin" ? 1 : 0, people.isOn ? 1 : 0];
  }
}

function inProgress(): AppError {
  return new AppError("overloaded", say`Another picture of yours is being stored. Try again in a moment.`);
}
