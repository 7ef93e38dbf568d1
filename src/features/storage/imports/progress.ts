import type { AppError } from "../../../errors.ts";
import type { LeftOut, SourceFile } from "./source.ts";
import { type ImportProblem, type ImportProblemReason, newCounts } from "./types.ts";

/** Problems that are listed; in a report that is not stored, more are. */
export const LISTED_MAX = 1_000;
export const REPORTED_MAX = 100_000;

const NAME_CHARACTERS_MAX = 1_000;

/** Counts and problems of an import while it runs. */
export class ImportProgress {
  readonly counts = newCounts();
  readonly #problems: ImportProblem[] = [];
  readonly #onReport: (progress: ImportProgress) => void;
  readonly #listedMax: number;

  /** @param onReport called at intervals */
  constructor(onReport: (progress: ImportProgress) => void = () => {}, listedMax = LISTED_MAX) {
    this.#onReport = onReport;
    this.#listedMax = listedMax;
  }

  /** The first of them. */
  get problems(): readonly ImportProblem[] {
    return this.#problems;
  }

  report(): void {
    this.#onReport(this);
  }

  setTotal(files: number | undefined, sizeBytes: number | undefined): void {
    this.counts.total = files ?? null;
    this.counts.totalBytes = sizeBytes ?? null;
  }

  addFound({ sizeBytes }: SourceFile): void {
    this.counts.found++;
    this.counts.foundBytes += sizeBytes ?? 0;
    this.report();
  }

  addImported(sizeBytes: number): void {
    this.counts.imported++;
    this.counts.importedBytes += sizeBytes;
  }

  addLeftOut({ name, reason, message, count = 1 }: LeftOut): void {
    this.addProblem(name, reason, message, count);
  }

  addProblem(name: string, reason: ImportProblemReason, message: string, count = 1): void {
    const { problems } = this.counts;
    problems[reason] = (problems[reason] ?? 0) + count;
    if (this.#problems.length >= this.#listedMax) return;
    this.#problems.push({ name: name.toWellFormed().slice(0, NAME_CHARACTERS_MAX), reason, message });
  }

  /** Adds an error of the account. */
  addRejection(name: string, { reason, message }: AppError): void {
    this.addProblem(name, REASONS[reason] ?? "bad_name", message);
  }
}

const REASONS: Readonly<Partial<Record<AppError["reason"], ImportProblemReason>>> = {
  file_too_large: "file_too_large",
  invalid_request: "unreadable",
  content_damaged: "unreadable",
  content_missing: "unreadable",
  quota_exceeded: "quota_exceeded",
  locked: "locked",
  name_taken: "name_taken",
  not_a_folder: "name_taken",
};
