import { toTimestamp } from "../../../lib/clock.ts";
import type { User } from "../../accounts/users/types.ts";
import type { ImportRun } from "./types.ts";

/** An import as the API names it. */
export function presentImport(run: ImportRun, needsSecret: boolean) {
  const { publicId, kind, source, origin, state, message, request, counts } = run;
  const { problems, ...numbers } = counts;
  return {
    id: publicId,
    kind,
    source,
    folder: request.folder,
    origin,
    state,
    message,
    needsSecret,
    ...numbers,
    problems: Object.entries(problems).map(([reason, count]) => ({ reason, count })),
    createdAt: toTimestamp(run.createdAtMs),
    changedAt: toTimestamp(run.changedAtMs),
    endedAt: run.endedAtMs === null ? null : toTimestamp(run.endedAtMs),
  };
}

/** An import as administrators see it. @param user undefined for an account that is being deleted */
export function presentAdminImport(run: ImportRun, needsSecret: boolean, user: User | undefined) {
  const { publicId: id = "", name = "", email = "" } = user ?? {};
  return { ...presentImport(run, needsSecret), user: { id, name, email } };
}
