/**
 * Checks the rows of a database: its structure, references between rows, and rules that no constraint enforces. Reads
 * for long: for threads and commands. The tree recounts its counters itself.
 */
import type { Database } from "bun:sqlite";
import { isDamage } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { normalizeName } from "../../../lib/path.ts";

/** Reported problems of one kind. */
const PROBLEMS_MAX = 20;

/**
 * Checks the whole structure of a database, including the search index, and every reference between rows.
 * @returns descriptions of problems
 */
export function findStructuralProblems(sqlite: Database): string[] {
  const structure = checkIntegrity(sqlite);
  // A damaged structure makes the references meaningless.
  if (structure.length > 0) return structure;
  return sqlite
    .query<{ problem: string }, []>(
      `SELECT DISTINCT 'a row of ' || "table" || ' refers to a row of ' || parent || ' that is not there' AS problem
       FROM pragma_foreign_key_check LIMIT ${PROBLEMS_MAX}`,
    )
    .all()
    .map(({ problem }) => problem);
}

/** The problems that SQLite reports, up to the point where a badly damaged file ends the check. */
function checkIntegrity(sqlite: Database): string[] {
  const problems: string[] = [];
  const check = sqlite.query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${PROBLEMS_MAX})`);
  try {
    for (const { integrity_check: problem } of check.iterate()) if (problem !== "ok") problems.push(problem);
  } catch (error) {
    if (!isDamage(error)) throw error;
    problems.push(String(error));
  }
  return problems;
}

/** A rule: a statement that returns the ids of rows that break it, and its description. */
interface Rule {
  readonly says: string;
  readonly sql: string;
}

const RULES: readonly Rule[] = [
  {
    says: "files without a blob, or folders with one",
    sql: `SELECT public_id AS id FROM nodes WHERE (kind = 1) <> (blob_id IS NOT NULL) OR (kind = 1) <> (version IS NOT NULL)`,
  },
  {
    says: "files whose size differs from the size of their blob",
    sql: `SELECT n.public_id AS id FROM nodes n JOIN blobs b ON b.id = n.blob_id WHERE n.size_bytes <> b.size_bytes`,
  },
  {
    says: "earlier versions whose size differs from the size of their blob",
    sql: `SELECT 'number ' || v.version || ' of node ' || v.node_id AS id FROM versions v JOIN blobs b ON b.id = v.blob_id
          WHERE v.size_bytes <> b.size_bytes`,
  },
  {
    says: "earlier versions without a file",
    sql: `SELECT 'number ' || version || ' of node ' || node_id AS id FROM versions
          WHERE node_id NOT IN (SELECT id FROM nodes WHERE kind = 1)`,
  },
  {
    says: "earlier versions that are newer than the current one",
    sql: `SELECT n.public_id AS id FROM versions v JOIN nodes n ON n.id = v.node_id WHERE v.version >= n.version`,
  },
  {
    says: "files and folders whose parent is not a folder",
    sql: `SELECT c.public_id AS id FROM nodes c JOIN nodes p ON p.id = c.parent_id WHERE p.kind <> 0`,
  },
  {
    says: "files and folders in a folder of another account",
    sql: `SELECT c.public_id AS id FROM nodes c JOIN nodes p ON p.id = c.parent_id WHERE p.account_id <> c.account_id`,
  },
  {
    says: "files and folders whose parent is missing",
    sql: `SELECT c.public_id AS id FROM nodes c LEFT JOIN nodes p ON p.id = c.parent_id
          WHERE c.parent_id IS NOT NULL AND p.id IS NULL AND c.parent_id > 0`,
  },
  {
    says: "folders without counters",
    sql: `SELECT public_id AS id FROM nodes WHERE kind = 0 AND id NOT IN (SELECT node_id FROM folders)`,
  },
  {
    says: "accounts without a root folder",
    sql: `SELECT a.id FROM accounts a LEFT JOIN nodes n ON n.id = a.root_id
          WHERE a.root_id > 0 AND (n.id IS NULL OR n.kind <> 0 OR n.account_id <> a.id)`,
  },
  {
    says: "accounts whose journal has unknown sequence numbers",
    sql: `SELECT a.id FROM accounts a WHERE (SELECT max(seq) FROM journal WHERE account_id = a.id) > a.seq
          OR (SELECT max(seq) FROM tombstones WHERE account_id = a.id) > a.seq`,
  },
  {
    says: "changes with an unknown sequence number",
    sql: `SELECT n.public_id AS id FROM nodes n JOIN accounts a ON a.id = n.account_id WHERE n.seq > a.seq`,
  },
  {
    says: "accounts whose journal is not in order",
    sql: `SELECT DISTINCT account_id AS id FROM (SELECT account_id, at,
            lag(at) OVER (PARTITION BY account_id ORDER BY seq) AS before FROM journal WHERE at > 0) WHERE at < before`,
  },
  {
    says: "tags of missing files",
    sql: `SELECT DISTINCT tag_id AS id FROM node_tags WHERE node_id NOT IN (SELECT id FROM nodes)
          OR tag_id NOT IN (SELECT id FROM tags)`,
  },
  { says: "blobs with an invalid checksum", sql: "SELECT id FROM blobs WHERE length(digest) <> 32" },
  {
    says: "files and folders in a cycle",
    sql: `WITH RECURSIVE reached(id) AS (SELECT id FROM nodes WHERE parent_id IS NULL OR parent_id <= 0
            OR parent_id NOT IN (SELECT id FROM nodes)
            UNION ALL SELECT n.id FROM reached r JOIN nodes n ON n.parent_id = r.id)
          SELECT public_id AS id FROM nodes WHERE id NOT IN (SELECT id FROM reached)`,
  },
];

/** Checks rules that no constraint enforces. @returns descriptions of problems, with ids and never with names */
export function findBrokenRules(sqlite: Database): string[] {
  const broken = RULES.flatMap(({ says, sql }) => {
    const found = sqlite.query<{ id: string | number }, []>(`${sql} LIMIT ${PROBLEMS_MAX + 1}`).all();
    return found.length === 0 ? [] : [`${says}: ${listIds(found.map(({ id }) => String(id)))}`];
  });
  const names = findBadNames(sqlite);
  return names.length === 0 ? broken : [...broken, `invalid names: ${listIds(names)}`];
}

/** Files and folders with an invalid name. Roots have none. */
function findBadNames(sqlite: Database): string[] {
  const bad: string[] = [];
  const rows = sqlite.query<{ id: string; name: string }, []>(
    `SELECT public_id AS id, name FROM nodes
     WHERE id NOT IN (SELECT root_id FROM accounts) AND parent_id IS NOT NULL`,
  );
  for (const { id, name } of rows.iterate()) {
    if (!isValid(name)) bad.push(id);
    if (bad.length > PROBLEMS_MAX) break;
  }
  return bad;
}

function isValid(name: string): boolean {
  try {
    return normalizeName(name) === name;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

function listIds(ids: readonly string[]): string {
  const listed = ids.slice(0, PROBLEMS_MAX).join(", ");
  return ids.length > PROBLEMS_MAX ? `${listed} and more` : listed;
}
