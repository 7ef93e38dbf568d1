import type { Message } from "../../../translations/say.ts";
import type { AppError } from "../../../errors.ts";
import type { LeftOut, SourceFile } from "./source.ts";
import {
  continuedCounts,
  type ImportCounts,
  type ImportProblem,
  type ImportProblemReason,
  newCounts,
} from "./types.ts";

/** Problems that are listed; in a report that is not stored, more are. */
export const LISTED_MAX = 1_000;
export const REPORTED_MAX = 100_000;

const NAME_CHARACTERS_MAX = 1_000;

/** Counts and problems of an import while it runs. */
export class ImportProgress {
  readonly counts: ImportCounts;
  readonly #problems: ImportProblem[] = [];
  readonly #onReport: (progress: ImportProgress) => void;
  readonly #listedMax: number;
  /** Files that earlier parts of this run have imported, and that were not found again yet. */
  #importedEarlier: number;

  /** @param onReport called at intervals. @param earlier the counts of the run so far, if it continues */
  constructor(
    onReport: (progress: ImportProgress) => void = () => {},
    listedMax = LISTED_MAX,
    earlier: ImportCounts = newCounts(),
  ) {
    this.#onReport = onReport;
    this.#listedMax = listedMax;
    this.counts = continuedCounts(earlier);
    this.#importedEarlier = earlier.imported + earlier.updated + earlier.merged;
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

  /** A file that was imported before. If that was in this run, it is counted. */
  addUnchanged(): void {
    if (this.#importedEarlier > 0) this.#importedEarlier--;
    else this.counts.unchanged++;
  }

  addImported(sizeBytes: number): void {
    this.counts.imported++;
    this.counts.importedBytes += sizeBytes;
  }

  addLeftOut({ name, reason, message, count = 1 }: LeftOut): void {
    this.addProblem(name, reason, message, count);
  }

  addProblem(name: string, reason: ImportProblemReason, message: Message, count = 1): void {
    const { problems } = this.counts;
    problems[reason] = (problems[reason] ?? 0) + count;
    if (this.#problems.length >= this.#listedMax) return;
    this.#problems.push({ name: name.toWellFormed().slice(0, NAME_CHARACTERS_MAX), reason, message });
  }

  /** Adds an error of the account. */
  addRejection(name: string, { reason, text }: AppError): void {
    this.addProblem(name, REASONS[reason] ?? "bad_name", text);
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
