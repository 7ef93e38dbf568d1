import { isExhausted } from "../../blobs/disk.ts";
import { FOLDER_STATES_JOB, REAP_JOB } from "../../features/library/jobs.ts";
import { GROUP_NOTICES_JOB } from "../../features/sharing/jobs.ts";
import { QueueWorker } from "../../features/mobile/offline-queue/worker.ts";
import { QUICK_CHECK_JOB, SNAPSHOT_JOB } from "../../features/storage/jobs.ts";
import { ClockWatch } from "../../jobs/clock-watch.ts";
import { Scheduler } from "../../jobs/scheduler.ts";
import type { Services } from "./services.ts";
import { timetable } from "./timetable.ts";

/** The shortest time between two checks for changes by other processes; each request starts one. */
const CHANGES_MS = 1;
/** How often the checks run without requests. */
const IDLE_CHANGES_MS = 1_000;
/** How long scheduled jobs wait after a start, so that they don't delay the first requests. */
const SCHEDULE_AFTER_MS = 500;
/** How long the search for damage waits after a start, for the same reason. */
const QUICK_CHECK_AFTER_MS = 120_000;
/** How often the server checks whether a snapshot is due. */
const SNAPSHOT_CHECK_MS = 1_000;

/** The work that a server does without a request: scheduled jobs, queues, indexes, and changes by other processes. */
export class Background {
  readonly scheduler: Scheduler;
  readonly #services: Services;
  readonly #clockWatch: ClockWatch;
  readonly #queueWorker: QueueWorker;
  readonly #timers: ReturnType<typeof setTimeout>[] = [];
  #checkedMs = 0;

  constructor(services: Services) {
    this.#services = services;
    this.#clockWatch = new ClockWatch(services);
    this.#clockWatch.start();
    this.scheduler = new Scheduler({ ...services, jobs: timetable(services), clockWatch: this.#clockWatch });
    this.#queueWorker = new QueueWorker(services);
    services.onDetached.wake = () => void this.scheduler.runNow(REAP_JOB);
    services.groupNotices.onQueued = () => void this.scheduler.runNow(GROUP_NOTICES_JOB);
  }

  /** Starts everything, once the server listens. */
  async start(): Promise<void> {
    const services = this.#services;
    this.#startTimers();
    if (services.snapshots.list().length === 0) this.#takeSnapshotIfDue();
    this.#queueWorker.start();
    services.pushDispatcher.start();
    services.mailDispatcher.start();
    services.passwordReset.handleRequests();
    services.searchIndexer.start();
    services.textIndexer.start();
    services.photoBackfill.start();
    services.naturalKeys.start();
    services.storeJournal.start();
    services.remoteStore?.start();
    await services.mediaInfo.start();
    await services.imports.begin();
    services.webhookDispatcher.start();
  }

  /** Drops cached rows and wakes queues if another process, such as a command, has changed the database. */
  noticeChanges(): void {
    const nowMs = performance.now();
    if (nowMs - this.#checkedMs < CHANGES_MS) return;
    this.#checkedMs = nowMs;
    const services = this.#services;
    if (!services.db.changedElsewhere()) return;
    services.settings.refresh();
    services.auth.dropCaches();
    services.apiKeys.dropCaches();
    services.appPasswords.dropCaches();
    services.tree.dropCaches();
    services.favorites.dropCaches();
    services.queue.dropCaches();
    services.blobRows.dropCaches();
    services.naturalKeys.wake();
    services.textIndexer.wakeSoon();
    void this.scheduler.handleRequests();
    services.pushDispatcher.wake();
    services.mailDispatcher.wake();
    services.webhookSubscriptions.dropCaches();
    services.webhookDispatcher.wake();
  }

  /** Stops the timers. Requests in progress may still queue work. */
  stopTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Stops after the work in progress. No request may be in progress. */
  async stop(): Promise<void> {
    await this.scheduler.stop();
    this.#clockWatch.stop();
    await this.#queueWorker.stop();
  }

  #startTimers(): void {
    const once = [
      setTimeout(() => {
        this.scheduler.start();
        // After an upgrade or a rebuild, lists show no sizes of folders until this has run.
        void this.scheduler.runNow(FOLDER_STATES_JOB);
      }, SCHEDULE_AFTER_MS),
      setTimeout(() => void this.scheduler.runNow(QUICK_CHECK_JOB), QUICK_CHECK_AFTER_MS),
    ];
    for (const timer of once) timer.unref();
    this.#timers.push(
      ...once,
      setInterval(() => this.noticeChanges(), IDLE_CHANGES_MS),
      setInterval(() => this.#takeSnapshotIfDue(), SNAPSHOT_CHECK_MS),
    );
  }

  #takeSnapshotIfDue(): void {
    const { snapshots, log } = this.#services;
    try {
      if (snapshots.isDue()) void this.scheduler.runNow(SNAPSHOT_JOB);
    } catch (error) {
      // Without a free descriptor the folder can't be read. The connection guard has logged that, and frees some.
      if (!isExhausted(error)) log.warn("Cannot read the snapshots; will retry.", { error });
    }
  }
}
