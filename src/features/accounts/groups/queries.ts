import type { Database } from "bun:sqlite";
import type { Group, GroupRow, Member } from "./types.ts";

const GROUP = "g.id, g.public_id AS publicId, g.name, g.created_at AS createdAtMs";
const ROW = `SELECT ${GROUP}, (SELECT count(*) FROM group_members m WHERE m.group_id = g.id) AS members,
  (SELECT count(*) FROM shares s INDEXED BY shares_group WHERE s.group_id = g.id) AS shares FROM groups g`;

/** The prepared statements about groups. */
export function groupQueries(sqlite: Database) {
  return {
    count: sqlite.prepare<{ count: number }, []>("SELECT count(*) AS count FROM groups"),
    /** Index groups_name. */
    page: sqlite.prepare<GroupRow, [number, number]>(`${ROW} ORDER BY g.name_key LIMIT ?1 OFFSET ?2`),
    /** Index groups_public. */
    row: sqlite.prepare<GroupRow, [string]>(`${ROW} WHERE g.public_id = ?1`),
    byPublicId: sqlite.prepare<Group, [string]>(`SELECT ${GROUP} FROM groups g WHERE g.public_id = ?1`),
    /** Index groups_name. */
    byName: sqlite.prepare<Group, [string]>(`SELECT ${GROUP} FROM groups g WHERE g.name_key = ?1`),
    insert: sqlite.prepare<undefined, [string, string, string, number]>(
      "INSERT INTO groups (public_id, name, name_key, created_at) VALUES (?1, ?2, ?3, ?4)",
    ),
    rename: sqlite.prepare<undefined, [number, string, string]>(
      "UPDATE groups SET name = ?2, name_key = ?3 WHERE id = ?1",
    ),
    remove: sqlite.prepare<undefined, [number]>("DELETE FROM groups WHERE id = ?1"),
    /** Accounts that are being deleted have left their groups. */
    members: sqlite.prepare<Member, [number, number, number]>(
      `SELECT u.public_id AS publicId, u.email, u.name, u.disabled_at AS disabledAtMs, m.added_at AS addedAtMs
       FROM group_members m CROSS JOIN users u ON u.id = m.user_id WHERE m.group_id = ?1
       ORDER BY u.name_key, u.id LIMIT ?2 OFFSET ?3`,
    ),
    memberCount: sqlite.prepare<{ count: number }, [number]>(
      "SELECT count(*) AS count FROM group_members WHERE group_id = ?1",
    ),
    addMember: sqlite.prepare<undefined, [number, number, number]>(
      "INSERT OR IGNORE INTO group_members (group_id, user_id, added_at) VALUES (?1, ?2, ?3)",
    ),
    removeMember: sqlite.prepare<undefined, [number, number]>(
      "DELETE FROM group_members WHERE group_id = ?1 AND user_id = ?2",
    ),
    /** Index group_members_user. */
    isMember: sqlite.prepare<{ one: 1 }, [number, number]>(
      "SELECT 1 AS one FROM group_members WHERE group_id = ?1 AND user_id = ?2",
    ),
  };
}
