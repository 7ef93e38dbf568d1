import { type Message, sayStored, type StoredMessage } from "../../../translations/say.ts";
import type { Database } from "bun:sqlite";
import type { SourceKind } from "./source.ts";
import type { ImportCounts, ImportProblem, ImportRun, RunOrigin, RunRequest, RunState } from "./types.ts";

interface RunRow extends Omit<ImportRun, "request" | "counts" | "message"> {
  readonly message: string | null;
  readonly request: string;
  readonly counts: string;
}

interface ProblemRow extends Omit<ImportProblem, "message"> {
  readonly message: string;
}

/** A run that begins. */
export interface NewRun {
  readonly publicId: string;
  readonly accountId: number;
  readonly kind: SourceKind;
  readonly origin: RunOrigin;
  readonly source: string;
  readonly request: RunRequest;
  readonly state: RunState;
}

/** What changes during a run. */
export interface RunChange {
  readonly state: RunState;
  readonly message: Message | null;
  readonly counts: ImportCounts;
}

const RUN = `id, public_id AS publicId, account_id AS accountId, kind, origin, source, request, state, message, counts,
  created_at AS createdAtMs, changed_at AS changedAtMs, ended_at AS endedAtMs`;

/** States in which a run has ended. */
const ENDED: ReadonlySet<RunState> = new Set<RunState>(["completed", "failed", "canceled"]);

/** The rows of imports. Changes are made inside a transaction. */
export class RunRows {
  readonly #statements;

  constructor(sqlite: Database) {
    this.#statements = {
      insert: sqlite.prepare<{ id: number }, [string, number, string, string, string, string, string, string, number]>(
        `INSERT INTO import_runs (public_id, account_id, kind, origin, source, request, state, counts, created_at, changed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9) RETURNING id`,
      ),
      byPublicId: sqlite.prepare<RunRow, [string]>(`SELECT ${RUN} FROM import_runs WHERE public_id = ?1`),
      byId: sqlite.prepare<RunRow, [number]>(`SELECT ${RUN} FROM import_runs WHERE id = ?1`),
      ofAccount: sqlite.prepare<RunRow, [number, number, number]>(
        `SELECT ${RUN} FROM import_runs INDEXED BY import_runs_account WHERE account_id = ?1
         ORDER BY id DESC LIMIT ?2 OFFSET ?3`,
      ),
      countOfAccount: sqlite.prepare<{ total: number }, [number]>(
        "SELECT count(*) AS total FROM import_runs INDEXED BY import_runs_account WHERE account_id = ?1",
      ),
      all: sqlite.prepare<RunRow, [number, number]>(
        `SELECT ${RUN} FROM import_runs ORDER BY id DESC LIMIT ?1 OFFSET ?2`,
      ),
      count: sqlite.prepare<{ total: number }, []>("SELECT count(*) AS total FROM import_runs"),
      unfinished: sqlite.prepare<RunRow, []>(
        `SELECT ${RUN} FROM import_runs WHERE state IN ('waiting', 'running') AND origin <> 'command' ORDER BY id`,
      ),
      change: sqlite.prepare<undefined, [number, string, string | null, string, number, number | null]>(
        `UPDATE import_runs SET state = ?2, message = ?3, counts = ?4, changed_at = ?5, ended_at = ?6 WHERE id = ?1`,
      ),
      setRequest: sqlite.prepare<undefined, [number, string]>("UPDATE import_runs SET request = ?2 WHERE id = ?1"),
      addProblem: sqlite.prepare<undefined, [number, number, string, string, string]>(
        `INSERT OR IGNORE INTO import_problems (run_id, number, name, reason, message) VALUES (?1, ?2, ?3, ?4, ?5)`,
      ),
      removeProblems: sqlite.prepare<undefined, [number]>("DELETE FROM import_problems WHERE run_id = ?1"),
      problems: sqlite.prepare<ProblemRow, [number, number, number]>(
        "SELECT name, reason, message FROM import_problems WHERE run_id = ?1 ORDER BY number LIMIT ?2 OFFSET ?3",
      ),
      countProblems: sqlite.prepare<{ total: number }, [number]>(
        "SELECT count(*) AS total FROM import_problems WHERE run_id = ?1",
      ),
      removeOld: sqlite.prepare<undefined, [number, number]>(
        `DELETE FROM import_runs WHERE account_id = ?1 AND id <= (SELECT id FROM import_runs WHERE account_id = ?1
         ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
      ),
    };
  }

  insert(
    { publicId, accountId, kind, origin, source, request, state }: NewRun,
    counts: ImportCounts,
    nowMs: number,
  ): number {
    const texts = [JSON.stringify(request), state, JSON.stringify(counts)] as const;
    return this.#statements.insert.get(publicId, accountId, kind, origin, source, ...texts, nowMs)?.id ?? 0;
  }

  find(publicId: string): ImportRun | undefined {
    return toRun(this.#statements.byPublicId.get(publicId));
  }

  findById(id: number): ImportRun | undefined {
    return toRun(this.#statements.byId.get(id));
  }

  /** The runs of an account, newest first. */
  ofAccount(accountId: number, limit: number, offset: number): ImportRun[] {
    return this.#statements.ofAccount.all(accountId, limit, offset).flatMap((row) => toRun(row) ?? []);
  }

  countOfAccount(accountId: number): number {
    return this.#statements.countOfAccount.get(accountId)?.total ?? 0;
  }

  /** The runs of all accounts, newest first. */
  all(limit: number, offset: number): ImportRun[] {
    return this.#statements.all.all(limit, offset).flatMap((row) => toRun(row) ?? []);
  }

  count(): number {
    return this.#statements.count.get()?.total ?? 0;
  }

  /** The runs of the server that have not ended, oldest first. */
  unfinished(): ImportRun[] {
    return this.#statements.unfinished.all().flatMap((row) => toRun(row) ?? []);
  }

  change(id: number, { state, message, counts }: RunChange, nowMs: number): void {
    const endedAtMs = ENDED.has(state) ? nowMs : null;
    this.#statements.change.run(id, state, message && toText(message), JSON.stringify(counts), nowMs, endedAtMs);
  }

  setRequest(id: number, request: RunRequest): void {
    this.#statements.setRequest.run(id, JSON.stringify(request));
  }

  /** @param first the number of the first of them */
  addProblems(id: number, problems: readonly ImportProblem[], first: number): void {
    for (const [index, { name, reason, message }] of problems.entries()) {
      this.#statements.addProblem.run(id, first + index, name, reason, toText(message));
    }
  }

  /** A run that continues lists its problems again. */
  removeProblems(id: number): void {
    this.#statements.removeProblems.run(id);
  }

  problems(id: number, limit: number, offset: number): ImportProblem[] {
    const rows = this.#statements.problems.all(id, limit, offset);
    return rows.map((row) => ({ ...row, message: toMessage(row.message) }));
  }

  countProblems(id: number): number {
    return this.#statements.countProblems.get(id)?.total ?? 0;
  }

  /** Removes the runs of an account but the newest ones. */
  removeOld(accountId: number, retained: number): void {
    this.#statements.removeOld.run(accountId, retained);
  }
}

function toRun(row: RunRow | null): ImportRun | undefined {
  if (row === null) return undefined;
  const message = row.message === null ? null : toMessage(row.message);
  return { ...row, message, request: JSON.parse(row.request), counts: JSON.parse(row.counts) };
}

/** A message as it is stored: its template and its values, so that each reader gets it in their language. */
function toText(message: Message): string {
  return JSON.stringify(message.stored());
}

function toMessage(text: string): Message {
  const stored: StoredMessage = JSON.parse(text);
  return sayStored(stored);
}
