/** Imports as the API names them, and what can be done in each state. */
import type { ResponseData } from "../../api/generated.ts";
import { text } from "./text.ts";

/** An import of the own account. */
export type ImportRun = ResponseData["GET /api/imports/{id}"];

/** A state of an import. */
export type ImportState = ImportRun["state"];

/** Whether an import waits for others or runs. */
export function isActive({ state }: Pick<ImportRun, "state">): boolean {
  return state === "waiting" || state === "running";
}

/** Whether the person can continue an import. Others continue when the command or the administrator starts them again. */
export function isResumable({ state, origin }: Pick<ImportRun, "state" | "origin">): boolean {
  return origin === "account" && hasStopped(state);
}

/** Whether the person can pause an import. */
export function isPausable(run: Pick<ImportRun, "state" | "origin">): boolean {
  return run.origin === "account" && isActive(run);
}

/** Whether an import can be canceled here. */
export function isCancelable(run: Pick<ImportRun, "state" | "origin">): boolean {
  return run.origin !== "command" && (isActive(run) || hasStopped(run.state));
}

function hasStopped(state: ImportState): boolean {
  return state === "paused" || state === "interrupted" || state === "failed";
}

/** How far an import is, from 0 to 1; undefined if its size is unknown. */
export function progressOf({ state, found, total, foundBytes, totalBytes }: ImportRun): number | undefined {
  if (state === "completed") return 1;
  if (totalBytes !== null && totalBytes > 0) return foundBytes / totalBytes;
  return total === null || total === 0 ? undefined : found / total;
}

/** The files that an import has read, of how many. */
export function filesText({ found, total }: Pick<ImportRun, "found" | "total">): string {
  // The source may have more files than it said at first.
  return total === null ? text.filesSoFar({ found }) : text.filesOf({ found, total: Math.max(found, total) });
}

/** How many things an import did not import. */
export function countProblems({ problems }: Pick<ImportRun, "problems">): number {
  return problems.reduce((sum, { count }) => sum + count, 0);
}
