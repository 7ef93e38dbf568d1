/**
 * Whom a share between accounts is for: the account that it names, or the current members of the group that it names. An
 * account that joins a group has its shares with the same commit, and one that leaves it has lost them. The owner of a
 * share does not receive it, nor does a member who hid it. Every statement that asks who receives a share uses these two.
 */

const isOfGroup = (share: string, user: string): string => `${share}.account_id <> ${user}
  AND NOT EXISTS (SELECT 1 FROM hidden_shares h WHERE h.share_id = ${share}.id AND h.user_id = ${user})`;

/**
 * The SQL condition that a row of `shares` is for an account: for statements that find shares by what they are of.
 * @param share the alias of the row @param user the parameter with the row id of the account
 */
export function isForUser(share: string, user: string): string {
  return `(${share}.recipient_id = ${user} OR (${share}.group_id IS NOT NULL AND ${isOfGroup(share, user)}
    AND EXISTS (SELECT 1 FROM group_members m WHERE m.group_id = ${share}.group_id AND m.user_id = ${user})))`;
}

/**
 * The row ids of all shares for an account, as an SQL table with the column `id`: for statements that begin with the
 * account. A few index seeks for each of its groups.
 * @param user the parameter with the row id of the account
 */
export function sharesForUser(user: string): string {
  return `(SELECT id FROM shares INDEXED BY shares_recipient WHERE recipient_id = ${user}
    UNION ALL SELECT g.id FROM group_members m INDEXED BY group_members_user
      CROSS JOIN shares g INDEXED BY shares_group ON g.group_id = m.group_id
      WHERE m.user_id = ${user} AND ${isOfGroup("g", user)})`;
}

/** SQL condition: a share between accounts has not expired, and what it is of is not in the trash. */
const isLive = (now: string): string => `s.kind = 'account' AND (s.expires_at IS NULL OR s.expires_at > ${now})
  AND (s.album_id IS NOT NULL OR EXISTS (
    WITH RECURSIVE up(parent_id, name) AS (
      SELECT parent_id, name FROM nodes WHERE id = s.node_id
      UNION ALL SELECT n.parent_id, n.name FROM up JOIN nodes n ON n.id = up.parent_id)
    SELECT 1 FROM up WHERE parent_id IS NULL AND name = '/'))`;

/**
 * The row ids of all accounts that share something with an account now, and of those that it found and shares something
 * with, as an SQL table with the column `id`; without the members of groups: see {@link isInSharedGroup}. It may have an
 * id several times. An account to whose email something is shared is not among them: that would show which addresses have
 * an account.
 * @param user the parameter with the row id of the account @param now the parameter with the time in milliseconds
 */
export function sharingAccounts(user: string, now: string): string {
  return `(SELECT s.account_id AS id FROM ${sharesForUser(user)} r CROSS JOIN shares s ON s.id = r.id WHERE ${isLive(now)}
    UNION ALL SELECT s.recipient_id FROM shares s INDEXED BY shares_account
      WHERE s.account_id = ${user} AND s.recipient_id IS NOT NULL AND s.recipient_email_key IS NULL AND ${isLive(now)})`;
}

/**
 * SQL condition: an account shares something now with a group that a person is in. It begins with the groups of the
 * person, because one account can share much with groups of thousands.
 * @param user the parameter with the row id of the account @param person the column with the row id of the person
 */
export function isInSharedGroup(user: string, person: string, now: string): string {
  return `EXISTS (SELECT 1 FROM group_members m INDEXED BY group_members_user
    CROSS JOIN shares s INDEXED BY shares_group ON s.group_id = m.group_id
    WHERE m.user_id = ${person} AND s.account_id = ${user} AND ${isOfGroup("s", person)} AND ${isLive(now)})`;
}
