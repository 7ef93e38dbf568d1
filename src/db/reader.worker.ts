/**
 * The thread for slow reads. It has its own read-only connection, and runs statements that would block the event loop,
 * such as searches over whole trees. All statements of one request read the same state.
 */
import { type Database, SQLiteError, type Statement } from "bun:sqlite";
import { type NamedRow, naturalKey, sortNaturally } from "../lib/natural-key.ts";
import { openReadOnly } from "./open.ts";
import { parseNumbers } from "./parse-numbers.ts";

/** A value that SQLite binds. */
export type Bindable = string | number | null;

/**
 * One statement. With `numbers`, its result is a text of comma-separated integers, returned as an array. With `natural-…`,
 * its rows have an `id`, a `kind` and a `name`: the ids are returned in the natural order of the names within each kind.
 * With `wrong-natural-keys`, they have an `id`, a `name` and a `key`: the ids of those with another key than that of the
 * name are returned.
 */
export interface ReadStatement {
  readonly sql: string;
  readonly parameters: readonly Bindable[];
  readonly as: "rows" | "numbers" | "natural-asc" | "natural-desc" | "wrong-natural-keys";
}

/** Statements that read the same state. The first request of a thread sets the database. */
export interface ReadRequest {
  readonly id: number;
  readonly path: string;
  /** Statements to run once on the new connection. */
  readonly setup: readonly string[];
  readonly statements: readonly ReadStatement[];
}

/** The results in the order of the statements, or the error. */
export type ReadReply =
  | { readonly id: number; readonly results: readonly (Float64Array | readonly object[])[] }
  | { readonly id: number; readonly error: string; readonly code: string };

declare const self: Worker;

/** Maximum number of cached statements. Their texts differ only by the used filters. */
const STATEMENTS_MAX = 128;

let database: Database | undefined;
const prepared = new Map<string, Statement<object>>();

self.onmessage = (event: MessageEvent<ReadRequest>) => {
  const { id, path, setup, statements } = event.data;
  try {
    database ??= open(path, setup);
    const results = readAll(database, statements);
    const transfer = results.flatMap((result) => (result instanceof Float64Array ? [result.buffer] : []));
    self.postMessage({ id, results } satisfies ReadReply, transfer);
  } catch (error) {
    const code = error instanceof SQLiteError ? (error.code ?? "") : "";
    self.postMessage({ id, error: String(error), code } satisfies ReadReply);
  }
};

function open(path: string, setup: readonly string[]): Database {
  const { sqlite } = openReadOnly(path);
  for (const statement of setup) sqlite.run(statement);
  return sqlite;
}

function readAll(sqlite: Database, statements: readonly ReadStatement[]): (Float64Array<ArrayBuffer> | object[])[] {
  sqlite.run("BEGIN");
  try {
    return statements.map(({ sql, parameters, as }) => {
      const statement = prepare(sqlite, sql);
      if (as === "natural-asc" || as === "natural-desc") {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement selects these columns
        const named = statement.iterate(...parameters) as Iterable<NamedRow>;
        return Float64Array.from(sortNaturally(named, as === "natural-asc" ? "asc" : "desc"));
      }
      if (as === "wrong-natural-keys") {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement selects these columns
        const keyed = statement.all(...parameters) as { id: number; name: string; key: string }[];
        return Float64Array.from(
          keyed.filter(({ name, key }) => key !== naturalKey(name)),
          ({ id }) => id,
        );
      }
      const rows = statement.all(...parameters);
      return as === "rows" ? rows : parseNumbers(Object.values(rows[0] ?? {})[0]);
    });
  } finally {
    sqlite.run("ROLLBACK");
  }
}

function prepare(sqlite: Database, sql: string): Statement<object> {
  const known = prepared.get(sql);
  if (known !== undefined) return known;
  if (prepared.size >= STATEMENTS_MAX) {
    for (const statement of prepared.values()) statement.finalize();
    prepared.clear();
  }
  const statement = sqlite.prepare<object, Bindable[]>(sql);
  prepared.set(sql, statement);
  return statement;
}
