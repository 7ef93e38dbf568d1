import { and, asc, count, eq, gt, isNull, lt, ne, or, sql } from "drizzle-orm";
import type { Db, Orm } from "../../../db/open.ts";
import { accounts } from "../../../db/schema/accounts.ts";
import { users } from "../../../db/schema/users.ts";
import { lazy } from "../../../lib/lazy.ts";
import type { User } from "./types.ts";

const COLUMNS = {
  id: users.id,
  publicId: users.publicId,
  email: users.email,
  name: users.name,
  role: users.role,
  plan: users.plan,
  quotaBytes: accounts.quotaBytes,
  disabledAt: users.disabledAt,
  createdAt: users.createdAt,
  emailUnconfirmedSince: users.emailUnconfirmedSince,
  passwordHash: users.passwordHash,
};

/**
 * The prepared statements about users. Each uses the primary key, or the index that its comment names. Those of drizzle
 * are built at their first use, because building all of them slows the start down.
 */
export function userQueries({ orm, sqlite }: Pick<Db, "orm" | "sqlite">) {
  const base = () => orm.select(COLUMNS).from(users).leftJoin(accounts, eq(accounts.id, users.id));
  return {
    /** Index users_email. */
    byEmail: lazy(() =>
      base()
        .where(eq(users.emailKey, sql.placeholder("emailKey")))
        .prepare(),
    ),
    /** Index users_public. */
    byPublicId: lazy(() =>
      base()
        .where(eq(users.publicId, sql.placeholder("publicId")))
        .prepare(),
    ),
    /**
     * Each request reads its account several times, so this is plain SQL, without a join: a subquery takes 1 µs instead
     * of 10.
     */
    byId: sqlite.prepare<UserRow, [number]>(
      `SELECT u.id, u.public_id AS publicId, u.email, u.name, u.role, u.plan,
         (SELECT quota_bytes FROM accounts WHERE id = u.id) AS quotaBytes,
         u.disabled_at AS disabledAt, u.created_at AS createdAt, u.email_unconfirmed_since AS emailUnconfirmedSince,
         u.password_hash AS passwordHash
       FROM users u WHERE u.id = ?1`,
    ),
    all: lazy(() => base().orderBy(asc(users.emailKey)).prepare()),
    /** Scans the users: they are few, and this runs only when a role changes. */
    enabledAdmins: lazy(() =>
      orm
        .select({ count: count() })
        .from(users)
        .where(and(eq(users.role, "admin"), isNull(users.disabledAt)))
        .prepare(),
    ),
    any: lazy(() => orm.select({ id: users.id }).from(users).limit(1).prepare()),
    /** Index users_admins. SQLite uses it only for exactly this condition. */
    administrator: lazy(() => orm.select({ id: users.id }).from(users).where(sql`role = 'admin'`).limit(1).prepare()),
    ...addressQueries(orm),
    settings: lazy(() =>
      orm
        .select({ settings: users.settings })
        .from(users)
        .where(eq(users.id, sql.placeholder("id")))
        .prepare(),
    ),
  };
}

function addressQueries(orm: Orm) {
  return {
    /** Another account with a similar-looking address. Indexes users_email_folded, users_email_skeleton. */
    lookalike: lazy(() =>
      orm
        .select({ id: users.id })
        .from(users)
        .where(
          and(
            ne(users.id, sql.placeholder("exceptId")),
            or(
              eq(users.emailFolded, sql.placeholder("folded")),
              eq(users.emailSkeleton, sql.placeholder("skeleton")),
              eq(users.emailSkeleton, sql.placeholder("shownSkeleton")),
            ),
          ),
        )
        .limit(1)
        .prepare(),
    ),
    /** Accounts whose address forms are missing or of another version. Index users_email_forms. */
    outdatedForms: lazy(() =>
      orm
        .select({ id: users.id, email: users.email })
        .from(users)
        .where(
          and(
            ne(users.email, ""),
            or(
              isNull(users.emailForms),
              lt(users.emailForms, sql.placeholder("version")),
              gt(users.emailForms, sql.placeholder("version")),
            ),
          ),
        )
        .limit(sql.placeholder("limit"))
        .prepare(),
    ),
  };
}

/** A row of {@link userQueries}. */
export interface UserRow {
  readonly id: number;
  readonly publicId: string;
  readonly email: string;
  readonly name: string;
  readonly role: User["role"];
  readonly plan: User["plan"];
  readonly quotaBytes: number | null;
  readonly disabledAt: number | null;
  readonly createdAt: number;
  readonly emailUnconfirmedSince: number | null;
  readonly passwordHash: string;
}

/**
 * Null in `accounts.quota_bytes` means the quota of the plan, a negative number means no limit.
 * @param verifiesEmail whether addresses must be confirmed at all
 */
export function toUser(row: UserRow, verifiesEmail: boolean): User {
  return {
    id: row.id,
    publicId: row.publicId,
    email: row.email,
    name: row.name,
    role: row.role,
    plan: row.plan,
    quotaBytes: row.quotaBytes === null ? undefined : row.quotaBytes < 0 ? null : row.quotaBytes,
    disabledAtMs: row.disabledAt,
    createdAtMs: row.createdAt,
    ...(verifiesEmail && row.emailUnconfirmedSince !== null && { isEmailUnconfirmed: true }),
  };
}
