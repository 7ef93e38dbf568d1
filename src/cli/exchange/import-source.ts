import { writeFileSync } from "node:fs";
import { describeSize } from "../../config/quantities.ts";
import { conductRun, describeEnd, openRun, type RunEnd } from "../../features/storage/imports/conduct-run.ts";
import { SourceImporter } from "../../features/storage/imports/importer.ts";
import { ImportProgress, REPORTED_MAX } from "../../features/storage/imports/progress.ts";
import { RecordedRun } from "../../features/storage/imports/recorded-run.ts";
import type { ImportCounts, ImportProblem, ImportProblemReason } from "../../features/storage/imports/types.ts";
import { normalizePath } from "../../lib/path.ts";
import type { CommandServices } from "../../server/for-commands.ts";
import { auditEntry } from "../shared/audit-entry.ts";
import { EXIT, type ExitCode, type RunningCommand } from "../shared/command.ts";
import { count, toJson } from "../shared/output.ts";
import { describeSeconds, ProgressLine } from "../shared/progress.ts";
import { requireUser } from "../shared/services.ts";
import { printProblems, untilSignal, withTransfer } from "../shared/transfer.ts";
import { type NamedSource, openNamedSource } from "./named-source.ts";

/** What is imported, as the command line says. */
interface SourceRequest extends NamedSource {
  readonly email: string;
  readonly restoresDeleted: boolean;
  readonly isDryRun: boolean;
}

/** The result of an import. */
interface SourceReport {
  readonly end: RunEnd;
  readonly counts: ImportCounts;
  readonly problems: readonly ImportProblem[];
  readonly durationMs: number;
}

/** What earlier parts of the same import have imported. */
type Earlier = Pick<ImportCounts, "imported" | "importedBytes">;

/** What was left out on purpose: the import is complete all the same. */
const ON_PURPOSE: ReadonlySet<ImportProblemReason> = new Set<ImportProblemReason>([
  "unsupported",
  "trashed",
  "unmatched",
]);

/** `larder import --from …`: imports from another system. */
export async function importFromSource(
  command: RunningCommand,
  from: string,
  paths: readonly string[],
): Promise<ExitCode> {
  const email = command.requiredText("user", "--user EMAIL, the account to import into");
  const { folder, ...named } = await openNamedSource(command, from, paths);
  const request: SourceRequest = {
    ...named,
    email,
    folder: normalizePath(command.text("folder") ?? folder),
    restoresDeleted: command.has("again"),
    isDryRun: command.has("dryRun"),
  };
  try {
    const report = await withTransfer(command, (services, hasServer) =>
      run(command, services, { ...request, hasServer }),
    );
    return printReport(command, report, request.isDryRun);
  } finally {
    await request.source.close();
  }
}

async function run(
  { terminal }: RunningCommand,
  services: CommandServices,
  request: SourceRequest & { readonly hasServer: boolean },
): Promise<SourceReport> {
  const { source, hasServer, folder, restoresDeleted, isDryRun, label, paths } = request;
  const user = requireUser(services.users, request.email);
  const { items, runs: rows, namedAlbums } = services.importRows;
  services.blobs.syncTogether();
  const importer = new SourceImporter({
    ...services,
    items,
    namedAlbums,
    reserveSpace: (bytes) => reserve(services, bytes),
    onStored: () => {},
  });
  const startedMs = performance.now();
  let earlier: Earlier = { imported: 0, importedBytes: 0 };
  const line = new ProgressLine<ImportCounts>(
    terminal,
    describeProgress(startedMs, () => earlier),
  );
  const onReport = ({ counts }: ImportProgress) => line.show(counts);
  const options = { user, source, folder, restoresDeleted, isDryRun, hasOtherServer: hasServer, isGentle: hasServer };
  const conduct = async (signal: AbortSignal): Promise<Omit<SourceReport, "durationMs">> => {
    if (isDryRun)
      return preview(importer, { ...options, signal, progress: new ImportProgress(onReport, REPORTED_MAX) });
    const found = await openRun(
      { ...services, rows },
      {
        accountId: user.id,
        kind: source.kind,
        origin: "command",
        source: label,
        request: { folder, restoresDeleted, paths },
        state: "running",
      },
    );
    earlier = found.counts;
    const recorded = new RecordedRun({ ...services, rows }, found, onReport, REPORTED_MAX);
    const end = await conductRun(importer, recorded, { ...options, signal }, services.log);
    const { counts, problems } = recorded.progress;
    return { end, counts, problems };
  };
  const report = await untilSignal(conduct);
  line.end();
  const files = report.counts.imported - earlier.imported;
  const bytes = report.counts.importedBytes - earlier.importedBytes;
  if (!isDryRun && files > 0) {
    await services.audit.record(auditEntry("transfer.import", user, { folder, from: source.kind, files, bytes }));
  }
  return { ...report, durationMs: Math.round(performance.now() - startedMs) };
}

/** Runs an import that changes nothing. */
async function preview(
  importer: SourceImporter,
  request: Parameters<SourceImporter["run"]>[0],
): Promise<Omit<SourceReport, "durationMs">> {
  const { counts, problems } = request.progress;
  try {
    await importer.run(request);
    return { end: { state: "completed", message: null }, counts, problems };
  } catch (error) {
    return { end: describeEnd(error, request.signal), counts, problems };
  }
}

function reserve({ storeGuard, reservations }: CommandServices, bytes: number): () => void {
  storeGuard.check();
  const release = reservations.reserve(bytes);
  return () => release();
}

/** Returns the text of the progress: counts, bytes, rate, and the time left. */
function describeProgress(startedMs: number, earlier: () => Earlier): (counts: ImportCounts) => string {
  return ({ total, totalBytes, found, foundBytes, imported, importedBytes }) => {
    const seconds = (performance.now() - startedMs) / 1_000;
    const newBytes = importedBytes - earlier().importedBytes;
    const rate = newBytes > 0 ? `, ${describeSize(Math.round(newBytes / seconds))}/s` : "";
    const isCounted = totalBytes !== null && foundBytes > 0;
    const left = isCounted ? `, about ${describeSeconds(((totalBytes - foundBytes) / foundBytes) * seconds)} left` : "";
    const ofTotal = total === null ? count(found, "file") : `${found} of ${count(total, "file")}`;
    return `${ofTotal}, ${imported} imported (${describeSize(importedBytes)})${rate}${left}`;
  };
}

function printReport(command: RunningCommand, report: SourceReport, isDryRun: boolean): ExitCode {
  const { end, counts, problems, durationMs } = report;
  const failed = Object.entries(counts.problems).filter(([reason]) => !isOnPurpose(reason));
  const isComplete = end.state === "completed" && failed.length === 0;
  const json = {
    ok: isComplete,
    dryRun: isDryRun,
    state: end.state,
    message: end.message?.english ?? null,
    ...counts,
    durationMs,
  };
  const listed = problems.map((problem) => ({ ...problem, message: problem.message.english }));
  const reportFile = command.text("report");
  if (reportFile !== undefined) writeFileSync(command.path(reportFile), toJson({ ...json, list: listed }));
  if (!command.isJson) {
    const total = Object.values(counts.problems).reduce((sum, number) => sum + number, 0);
    const list = listed.map(({ name: path, message }) => ({ path, message, reason: "unreadable" as const }));
    printProblems(list, total, command.terminal);
  }
  command.print({ ...json, list: listed }, `${describe(report, isDryRun)}\n`);
  return isComplete ? EXIT.success : EXIT.problems;
}

function isOnPurpose(reason: string): boolean {
  return [...ON_PURPOSE].some((known) => known === reason);
}

function describe({ end, counts, durationMs }: SourceReport, isDryRun: boolean): string {
  const { imported, importedBytes, updated, merged, unchanged, deleted, problems } = counts;
  const sum = (matches: (reason: string) => boolean) =>
    Object.entries(problems).reduce((total, [reason, number]) => total + (matches(reason) ? number : 0), 0);
  const [leftOut, failed] = [sum(isOnPurpose), sum((reason) => !isOnPurpose(reason))];
  const parts = [
    `${isDryRun ? "Would import" : "Imported"} ${count(imported, "file")} (${describeSize(importedBytes)})`,
    ...(updated > 0 ? [`${updated} new versions`] : []),
    ...(merged > 0 ? [`${merged} copies joined with their originals`] : []),
    ...(unchanged > 0 ? [`${unchanged} imported before`] : []),
    ...(deleted > 0 ? [`${deleted} deleted since then and left out (--again imports them)`] : []),
    ...(leftOut > 0 ? [`${leftOut} left out`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  const message = end.message === null ? "" : ` ${end.message.english}`;
  const ending = end.state === "completed" ? "" : `${message} Run the same command again to continue.`;
  return `${parts.join("; ")}. ${describeSeconds(durationMs / 1_000)}.${ending === "" ? "" : ` ${ending.trim()}`}`;
}
