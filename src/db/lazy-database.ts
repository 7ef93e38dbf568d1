/** Statements that SQLite compiles at their first use. A server has five hundred, and most runs use only some. */
import { Database, type SQLQueryBindings, type Statement } from "bun:sqlite";

/** A text in quotes, or a comparison or limit with a bare parameter. Ranges have no influence without statistics. */
const BARE_PARAMETER = /'[^']*'|(?<![<>!])(=|\b(?:IS|LIMIT)\b)\s*\?/gi;

/**
 * Puts a plus sign before the parameters whose values SQLite would use to plan the statement. For the sake of these
 * values it compiles the statement again at each run, which takes 2 to 85 µs: https://sqlite.org/c3ref/prepare.html.
 * The only switch against that, SQLITE_DBCONFIG_ENABLE_QPSG, can't be reached from here. The plus sign can: it changes
 * no value (https://sqlite.org/lang_expr.html), and the planner sees an expression with an unknown value.
 */
export function keepCompiled(sql: string): string {
  return sql.replace(BARE_PARAMETER, (found, operator?: string) => (operator === undefined ? found : `${operator} +?`));
}

/**
 * A database whose `prepare` takes no time. Errors in the SQL appear when the statement is used. No statement is
 * compiled again at each run, except those with `LIKE ?`.
 */
export class LazyDatabase extends Database {
  override prepare<Row, Params extends SQLQueryBindings | SQLQueryBindings[]>(sql: string, params?: Params) {
    return new LazyStatement(() => super.prepare<Row, Params>(keepCompiled(sql), params));
  }

  override query<Row, Params extends SQLQueryBindings | SQLQueryBindings[]>(sql: string) {
    return super.query<Row, Params>(keepCompiled(sql));
  }
}

/** Compiles its SQL once, at the first use. */
export class LazyStatement<Row, Params extends SQLQueryBindings[]> implements Statement<Row, Params> {
  readonly #compile: () => Statement<Row, Params>;
  #statement: Statement<Row, Params> | undefined;

  constructor(compile: () => Statement<Row, Params>) {
    this.#compile = compile;
  }

  get columnNames() {
    return this.compiled().columnNames;
  }

  get columnTypes() {
    return this.compiled().columnTypes;
  }

  get declaredTypes() {
    return this.compiled().declaredTypes;
  }

  get isFinalized() {
    return this.#statement?.isFinalized ?? false;
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- the interface leaves it untyped on purpose
  get native(): any {
    return this.compiled().native;
  }

  get paramsCount() {
    return this.compiled().paramsCount;
  }

  get reader() {
    return this.compiled().reader;
  }

  get readonly() {
    return this.compiled().readonly;
  }

  /** The compiled statement. @throws SQLiteError if its SQL is invalid */
  compiled(): Statement<Row, Params> {
    return (this.#statement ??= this.#compile());
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- as in the interface
  as<T>(model: new (...args: any[]) => T) {
    return this.compiled().as<T>(model);
  }

  all(...params: Params) {
    return this.compiled().all(...params);
  }

  get(...params: Params) {
    return this.compiled().get(...params);
  }

  iterate(...params: Params) {
    return this.compiled().iterate(...params);
  }

  run(...params: Params) {
    return this.compiled().run(...params);
  }

  values(...params: Params) {
    return this.compiled().values(...params);
  }

  raw(...params: Params) {
    return this.compiled().raw(...params);
  }

  safeIntegers(isEnabled: boolean): this;
  safeIntegers(): boolean;
  safeIntegers(isEnabled?: boolean): this | boolean {
    if (isEnabled === undefined) return this.compiled().safeIntegers();
    this.compiled().safeIntegers(isEnabled);
    return this;
  }

  finalize() {
    this.compiled().finalize();
  }

  toString() {
    return this.compiled().toString();
  }

  toJSON() {
    return this.compiled().toJSON();
  }

  [Symbol.iterator]() {
    return this.compiled()[Symbol.iterator]();
  }

  [Symbol.dispose]() {
    this.finalize();
  }
}
