/** The metrics of GET /metrics. Slow queries run in the reader thread, and their results are cached. */
import { readdirSync, readFileSync } from "node:fs";
import { rows } from "../../db/reader.ts";
import type { ServerCounts } from "../../features/administration/admin-api/types.ts";
import type { JobState } from "../../jobs/scheduler.ts";
import { COMMIT, VERSION } from "../../version.ts";
import type { EventLoopDelay } from "../observability/event-loop.ts";
import { availableBytes, totalBytes } from "../data/filesystem.ts";
import { byLabel, counter, type MetricFamily, gauge } from "../observability/metric-family.ts";
import type { RequestStatistics } from "../observability/request-statistics.ts";
import type { Services } from "../composition/services.ts";
import { sizeOf } from "./health.ts";

/** Totals from the database. */
interface DatabaseTotals {
  readonly counted: ServerCounts;
  /** Blobs whose metadata is still to be read, at most {@link COUNTED_MAX}. */
  readonly media: number;
  /** Blobs still to be sent to the bucket; undefined without a bucket. */
  readonly bucket: number | undefined;
  /** Changes that are not in the search index yet. */
  readonly searchLag: number;
  /** Unresolved findings by kind. */
  readonly findings: readonly { readonly kind: string; readonly open: number }[];
  /** The oldest time at which a blob was last read or stored; null in an empty store. */
  readonly oldestReadAtMs: number | null;
}

/** The kinds of findings; all are reported, also without findings. */
const FINDINGS = ["damaged", "missing", "unreadable", "database"];
const COUNTED_MAX = 100_000;
/** How long a scrape waits for new totals if it has older ones. */
const PATIENCE_MS = 10;

/** Reads the totals without delaying a scrape: if the queries are slow, the values are those of the previous scrape. */
export class TotalsReader {
  readonly #services: Pick<Services, "statistics" | "reader" | "remoteStore">;
  #last: DatabaseTotals | undefined;
  #reading: Promise<DatabaseTotals> | undefined;

  constructor(services: Pick<Services, "statistics" | "reader" | "remoteStore">) {
    this.#services = services;
  }

  /** The current totals, or those of the previous scrape if the queries take longer than {@link PATIENCE_MS}. */
  async read(): Promise<DatabaseTotals> {
    this.#reading ??= this.#query().finally(() => {
      this.#reading = undefined;
    });
    const { promise, resolve } = Promise.withResolvers<DatabaseTotals>();
    const last = this.#last;
    if (last === undefined) return this.#reading;
    const timer = setTimeout(() => resolve(last), PATIENCE_MS);
    const totals = await Promise.race([promise, this.#reading]);
    clearTimeout(timer);
    return totals;
  }

  async #query(): Promise<DatabaseTotals> {
    const { statistics, reader, remoteStore } = this.#services;
    const counted = await statistics.count();
    const bucket = await remoteStore?.countWaiting();
    const [media, lag, findings, oldest] = await reader.read([
      rows<{ waiting: number }>(`SELECT count(*) AS waiting FROM (SELECT 1 FROM media_queue LIMIT ${COUNTED_MAX})`),
      rows<{ lag: number }>(
        `SELECT coalesce(sum(max(0, a.seq - coalesce(c.seq, 0))), 0) AS lag
         FROM accounts a LEFT JOIN search_cursors c ON c.account_id = a.id WHERE a.root_id > 0`,
      ),
      rows<{ kind: string; open: number }>(
        "SELECT kind, count(*) AS open FROM findings WHERE resolved_at IS NULL GROUP BY kind",
      ),
      // Index blobs_reading.
      rows<{ at: number | null }>(
        "SELECT min(coalesce(verified_at, created_at)) AS at FROM blobs WHERE damaged_at IS NULL",
      ),
    ]);
    this.#last = {
      counted,
      media: media[0]?.waiting ?? 0,
      bucket,
      searchLag: lag[0]?.lag ?? 0,
      findings,
      oldestReadAtMs: oldest[0]?.at ?? null,
    };
    return this.#last;
  }
}

/** Requests by route, and rejected requests. */
export function requestFamilies(requests: RequestStatistics, inProgress: number): MetricFamily[] {
  const routes = [...requests.routes];
  return [
    {
      kind: "counter",
      name: "larder_requests_total",
      help: "Completed requests by route, method, and status class.",
      values: routes.flatMap(({ route, method, byClass }) =>
        [...byClass].flatMap((count, index) =>
          count === 0 ? [] : [[{ route, method, status: `${index + 1}xx` }, count] as const],
        ),
      ),
    },
    {
      kind: "histogram",
      name: "larder_request_duration_seconds",
      help: "Time from the start of a request to the start of its response, including the request body.",
      values: routes.map(({ route, method, latency }) => [{ route, method }, latency]),
    },
    gauge("larder_requests_in_flight", "Requests in progress.", inProgress),
    counter("larder_request_failures_total", "Requests that were rejected or failed.", requests.failures),
    byLabel(
      "counter",
      "larder_rejections_total",
      "Requests that were rejected or failed, by error reason.",
      "reason",
      requests.rejections,
    ),
    byLabel(
      "counter",
      "larder_rate_limit_rejections_total",
      "Requests rejected by a rate limit, by category.",
      "category",
      requests.rateLimited,
    ),
  ];
}

/** Files, accounts, queues, and the disk. */
export function storageFamilies(services: Services, totals: DatabaseTotals): MetricFamily[] {
  const { transfers, limiter, writer, thumbnails, paths } = services;
  const { counted } = totals;
  const { storage, users } = counted;
  const { uploads, uploadedBytes, downloads, downloadedBytes } = transfers.sinceStart;
  return [
    counter("larder_uploads_total", "Files uploaded since the server started.", uploads),
    counter("larder_uploaded_bytes_total", "Bytes uploaded since the server started.", uploadedBytes),
    counter("larder_downloads_total", "Files downloaded since the server started.", downloads),
    counter("larder_downloaded_bytes_total", "Bytes downloaded since the server started.", downloadedBytes),
    gauge("larder_uploads_in_progress", "Unfinished chunked uploads.", counted.uploadsUnderWay),
    gauge("larder_files", "Files in all accounts.", storage.files),
    gauge("larder_folders", "Folders in all accounts.", storage.folders),
    gauge("larder_used_bytes", "Bytes that count toward the quotas of all accounts.", storage.usedBytes),
    gauge("larder_blobs", "Blobs in the store.", storage.blobs),
    gauge("larder_blob_bytes", "Bytes of all blobs in the store.", storage.blobBytes),
    ...bucketFamilies(services),
    ...replicaFamilies(services),
    byLabel("gauge", "larder_users", "Accounts by role.", "role", Object.entries(users.byRole)),
    gauge("larder_users_active", "Accounts active within the last 30 days.", users.active),
    byLabel("gauge", "larder_queue_depth", "Waiting entries by queue.", "queue", [
      ...Object.entries(counted.queues),
      ["thumbnails", thumbnails.waiting],
      ["media", totals.media],
      ...(totals.bucket === undefined ? [] : [["bucket", totals.bucket] as const]),
      ["search", totals.searchLag],
      ["commits", writer.waiting],
    ]),
    counter(
      "larder_texts_read_total",
      "Files whose text was read since the server started.",
      services.textIndexer.read,
    ),
    gauge("larder_transactions_waiting", "Transactions waiting for a commit.", writer.waiting),
    gauge("larder_rate_limit_subjects", "Users and addresses with current rate-limit counts.", limiter.subjects),
    ...safetyFamilies(services, totals),
    gauge(
      "larder_disk_available_bytes",
      "Free space on the file system of the data directory.",
      availableBytes(paths.root),
    ),
    gauge("larder_disk_bytes", "Size of the file system of the data directory.", totalBytes(paths.root)),
  ];
}

function replicaFamilies({ replica }: Services): MetricFamily[] {
  if (replica === undefined) return [];
  const help = "How long the oldest change that is not in the replica has waited.";
  return [
    gauge(
      "larder_replica_up",
      "1 if the replica works and is not late, 0 otherwise.",
      replica.problem === undefined ? 1 : 0,
    ),
    gauge("larder_replica_lag_seconds", help, replica.lagMs / 1000),
  ];
}

function bucketFamilies({ remoteStore, clock }: Services): MetricFamily[] {
  if (remoteStore === undefined) return [];
  const { outage } = remoteStore;
  return [
    gauge("larder_bucket_up", "1 if the bucket is available, 0 otherwise.", outage === undefined ? 1 : 0),
    gauge(
      "larder_bucket_outage_seconds",
      "Duration of the current bucket outage; 0 if the bucket is available.",
      outage === undefined ? 0 : secondsSince(outage.sinceMs, clock.nowMs()),
    ),
  ];
}

/** Snapshots, and findings of the scrub. */
function safetyFamilies({ snapshots, clock }: Services, { oldestReadAtMs, findings }: DatabaseTotals): MetricFamily[] {
  const nowMs = clock.nowMs();
  const stored = snapshots.list();
  return [
    gauge("larder_snapshots", "Snapshots of the database.", stored.length),
    ...stored
      .slice(0, 1)
      .flatMap(({ takenAtMs, sizeBytes }) => [
        gauge("larder_snapshot_age_seconds", "Age of the newest snapshot.", secondsSince(takenAtMs, nowMs)),
        gauge("larder_snapshot_bytes", "Size of the newest snapshot.", sizeBytes),
      ]),
    gauge(
      "larder_oldest_verification_seconds",
      "Time since the least recently verified blob was verified.",
      oldestReadAtMs === null ? 0 : secondsSince(oldestReadAtMs, nowMs),
    ),
    byLabel(
      "gauge",
      "larder_findings",
      "Unresolved findings (damaged or missing data) by kind.",
      "kind",
      FINDINGS.map((kind) => [kind, findings.find((one) => one.kind === kind)?.open ?? 0]),
    ),
  ];
}

/** The files and the commits of the database. */
export function databaseFamilies({ paths, writer }: Services): MetricFamily[] {
  const { seconds, transactions, busy, failures } = writer.statistics;
  return [
    gauge("larder_database_bytes", "Size of the database.", sizeOf(paths.database)),
    gauge("larder_database_log_bytes", "Size of the write-ahead log of the database.", sizeOf(`${paths.database}-wal`)),
    {
      kind: "histogram",
      name: "larder_commit_duration_seconds",
      help: "Duration of commits until they are durable.",
      values: [[{}, seconds]],
    },
    {
      kind: "histogram",
      name: "larder_commit_transactions",
      help: "Transactions per commit.",
      values: [[{}, transactions]],
    },
    counter("larder_database_busy_total", "Number of times that another process had locked the database.", busy),
    counter("larder_commit_failures_total", "Failed commits.", failures),
  ];
}

/** The scheduled jobs, with the results of their last runs. */
export function jobFamilies(jobs: readonly JobState[]): MetricFamily[] {
  const ended = jobs.filter(({ lastFinishedAtMs }) => lastFinishedAtMs !== null);
  const of = (value: (job: JobState) => number) => ended.map((job) => [job.name, value(job)] as const);
  return [
    byLabel(
      "gauge",
      "larder_job_running",
      "1 if the job is running, 0 otherwise.",
      "job",
      jobs.map(({ name, isRunning }) => [name, isRunning ? 1 : 0]),
    ),
    byLabel(
      "gauge",
      "larder_job_failed",
      "1 if the last run failed, 0 otherwise.",
      "job",
      of((job) => (hasSucceeded(job) ? 0 : 1)),
    ),
    byLabel(
      "gauge",
      "larder_job_last_success_timestamp_seconds",
      "Time of the last run, if it succeeded.",
      "job",
      ended.filter(hasSucceeded).map(({ name, lastFinishedAtMs }) => [name, (lastFinishedAtMs ?? 0) / 1000] as const),
    ),
    byLabel(
      "gauge",
      "larder_job_last_duration_seconds",
      "Duration of the last run; absent while the job is running.",
      "job",
      ended
        .filter(({ lastStartedAtMs, lastFinishedAtMs }) => (lastStartedAtMs ?? 0) <= (lastFinishedAtMs ?? 0))
        .map(
          ({ name, lastStartedAtMs, lastFinishedAtMs }) =>
            [name, ((lastFinishedAtMs ?? 0) - (lastStartedAtMs ?? 0)) / 1000] as const,
        ),
    ),
  ];
}

/** The certificate of the server, if it has one. */
export function certificateFamilies(endsMs: number | undefined): MetricFamily[] {
  if (endsMs === undefined) return [];
  const help = "Expiry time of the TLS certificate.";
  return [gauge("larder_certificate_expiry_timestamp_seconds", help, endsMs / 1000)];
}

/** The process, with the names that every Prometheus exporter uses, so that common dashboards show them. */
export function processFamilies(delay: EventLoopDelay): MetricFamily[] {
  const { user, system } = process.cpuUsage();
  const rss = process.memoryUsage.rss();
  return [
    gauge("process_resident_memory_bytes", "Resident memory.", rss),
    gauge("larder_resident_memory_bytes", "Resident memory of the server.", rss),
    counter("process_cpu_seconds_total", "CPU time.", (user + system) / 1e6),
    gauge("process_start_time_seconds", "Start time of the process.", (Date.now() - performance.now()) / 1000),
    gauge("process_open_fds", "Open files and connections.", readdirSync("/proc/self/fd").length),
    gauge("process_max_fds", "Maximum number of open files and connections.", readDescriptorLimit()),
    byLabel("gauge", "larder_event_loop_delay_seconds", "Event loop delay.", "quantile", [
      ["0.5", delay.p50],
      ["0.99", delay.p99],
      ["1", delay.max],
    ]),
    {
      kind: "gauge",
      name: "larder_info",
      help: "Version information.",
      values: [[{ version: VERSION, commit: COMMIT }, 1]],
    },
  ];
}

function hasSucceeded({ lastError }: JobState): boolean {
  return lastError === null;
}

/** The soft limit of open files from proc(5); 0 if it can't be read. */
function readDescriptorLimit(): number {
  const found = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"));
  return Number(found?.[1] ?? 0);
}

function secondsSince(timeMs: number, nowMs: number): number {
  return Math.max(0, nowMs - timeMs) / 1000;
}
