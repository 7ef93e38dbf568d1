import { AppError } from "../../../errors.ts";
import { joinPath } from "../../../lib/path.ts";
import { sayText } from "../../../translations/say.ts";
import type { SourceFile } from "./source-walk.ts";
import type { ImportReport, TransferProblem, TransferReason } from "./types.ts";

/** Problems and changed names that are listed. */
const LISTED_MAX = 10_000;

/** Counts, problems and the end of one import, for its report. */
export class ImportProgress {
  readonly counts = {
    seen: 0,
    imported: 0,
    importedBytes: 0,
    versions: 0,
    renamed: 0,
    unchanged: 0,
    folders: 0,
    copied: 0,
    cloned: 0,
    linked: 0,
    problems: 0,
    leftOut: 0,
  };
  /** Why the import ends early. */
  stopped: ImportReport["stopped"];
  readonly #problems: TransferProblem[] = [];
  readonly #renamings: { path: string; storedAs: string }[] = [];
  readonly #startedMs = performance.now();

  addProblem(path: string, reason: TransferReason, message: string): void {
    if (reason === "not_a_file") this.counts.leftOut++;
    else this.counts.problems++;
    if (this.#problems.length < LISTED_MAX) this.#problems.push({ path, reason, message });
  }

  /** Adds an error of the account; at the quota, the import stops. */
  addRejection(path: string, error: AppError): void {
    if (error.reason === "quota_exceeded") {
      this.addProblem(path, "quota_exceeded", error.message);
      this.stopped ??= "quota_exceeded";
    } else {
      const isTaken = error.reason === "name_taken" || error.reason === "not_a_folder";
      const reason = error.reason === "locked" ? "locked" : isTaken ? "name_taken" : "bad_name";
      this.addProblem(path, reason, error.message);
    }
  }

  /** Stops the import before a file that would exceed the quota. */
  stopForQuota({ path }: SourceFile, quotaBytes: number): void {
    const message = `The account has reached its quota of ${quotaBytes} bytes. To raise it: larder user set EMAIL --quota SIZE`;
    this.addProblem(path, "quota_exceeded", message);
    this.stopped ??= "quota_exceeded";
  }

  addOtherContent({ path, folder, name }: SourceFile): void {
    const treePath = joinPath(folder, name);
    const message = `"${treePath}" exists with different content and was skipped. See --on-conflict.`;
    this.addProblem(path, "other_content", message);
  }

  addRenaming(path: string, storedAs: string): void {
    if (this.#renamings.length < LISTED_MAX) this.#renamings.push({ path, storedAs });
  }

  report(): ImportReport {
    return {
      ...this.counts,
      problemList: this.#problems,
      renamings: this.#renamings,
      stopped: this.stopped,
      durationMs: Math.round(performance.now() - this.#startedMs),
    };
  }
}

/** The operator who imports can free space; the text of the reservation is for people who upload. */
export function explainFullDisk(error: unknown): unknown {
  if (!(error instanceof AppError) || error.reason !== "disk_full") return error;
  const text = sayText(
    "Not enough disk space for the next files. Free some space, then run the command again to continue.",
  );
  return new AppError("disk_full", text, error.details, error);
}
