import type { NewRun } from "./queries.ts";

/** An import that is to begin. */
export type NewImport = Omit<NewRun, "publicId" | "state">;
