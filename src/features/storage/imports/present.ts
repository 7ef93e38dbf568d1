import { toTimestamp } from "../../../lib/clock.ts";
import { translateMessage } from "../../../translations/error-texts.ts";
import type { User } from "../../accounts/users/types.ts";
import type { ImportProblem, ImportRun } from "./types.ts";

/** An import as the API names it. @param language in which messages are */
export function presentImport(run: ImportRun, needsSecret: boolean, language: string) {
  const { publicId, kind, source, origin, state, message, request, counts } = run;
  const { problems, ...numbers } = counts;
  return {
    id: publicId,
    kind,
    source,
    folder: request.folder,
    origin,
    state,
    message: message && translateMessage(message, language),
    needsSecret,
    ...numbers,
    problems: Object.entries(problems).map(([reason, count]) => ({ reason, count })),
    createdAt: toTimestamp(run.createdAtMs),
    changedAt: toTimestamp(run.changedAtMs),
    endedAt: run.endedAtMs === null ? null : toTimestamp(run.endedAtMs),
  };
}

/** What was not imported, as the API names it. */
export function presentProblem({ name, reason, message }: ImportProblem, language: string) {
  return { name, reason, message: translateMessage(message, language) };
}

/** An import as administrators see it. @param user undefined for an account that is being deleted */
export function presentAdminImport(run: ImportRun, needsSecret: boolean, user: User | undefined, language: string) {
  const { publicId: id = "", name = "", email = "" } = user ?? {};
  return { ...presentImport(run, needsSecret, language), user: { id, name, email } };
}
