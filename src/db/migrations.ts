/**
 * The files of migrations/, in order, as text inside the executable. Released files are frozen: a change of the data
 * model is a new file and a new line here.
 */
import init from "../../migrations/0000_init.sql" with { type: "text" };

/** One step of the data model. `id` is the file's name; the steps run in this order and never again. */
export interface Migration {
  readonly id: string;
  readonly sql: string;
}

/** All steps this program knows, oldest first. */
export const MIGRATIONS: readonly Migration[] = [{ id: "0000_init", sql: init }];
