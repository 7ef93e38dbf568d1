/** Which requests are audited, and with which action, from the declarations of their routes. */
import type { AuditRule } from "../../accounts/routing/audit-rule.ts";
import type { DeclaredRoute } from "../../accounts/routing/declaration.ts";
import type { AuditFiles } from "./types.ts";

/** How a request is audited. */
export interface AuditedAction {
  readonly action: string;
  /** The target. Its id is in the path or, if not, in the response. */
  readonly target: { readonly type: string; readonly id: string | undefined } | undefined;
  /** Public id of the account that the path names. */
  readonly subjectId: string | undefined;
  readonly write: NonNullable<AuditRule["write"]>;
  /** The request contains a password, so reaching a rate limit is audited. */
  readonly isGuess: boolean;
}

/** How a request is audited; undefined if it is not. @param path as sent, without the query */
export function auditedAction(
  { path: pattern, declaration: { audit } }: DeclaredRoute,
  path: string,
  files: AuditFiles,
): AuditedAction | undefined {
  if (audit === "unaudited" || !isAudited(audit, files)) return undefined;
  const { action, target, targetParam, accountParam, isGuess = false } = audit;
  const id = parameterOf(pattern, path, targetParam);
  return {
    action,
    write: audit.files === undefined ? (audit.write ?? "security") : "deferred",
    isGuess,
    target: target === undefined ? undefined : { type: target, id },
    subjectId: target === "user" ? id : parameterOf(pattern, path, accountParam),
  };
}

function isAudited({ files: level }: AuditRule, files: AuditFiles): boolean {
  return level === undefined || files === "all" || files === level;
}

function parameterOf(pattern: string, path: string, name: string | undefined): string | undefined {
  return name === undefined ? undefined : path.split("/")[pattern.split("/").indexOf(`:${name}`)];
}
