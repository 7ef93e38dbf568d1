import type { Database } from "bun:sqlite";
import type { AvatarContent } from "./records.ts";

/** Stores the recorded picture of a person, in place of an existing one. */
export function putAvatar(sqlite: Database, userId: number, { digest, large, small, changed }: AvatarContent): void {
  sqlite
    .query("INSERT OR REPLACE INTO avatars (user_id, digest, large, small, changed_at) VALUES (?1, ?2, ?3, ?4, ?5)")
    .run(userId, ...[digest, large, small].map((text) => Buffer.from(text, "hex")), changed);
}
