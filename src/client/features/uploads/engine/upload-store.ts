// All uploads of this page. They change often, so the tray is notified at most ten times a second.
import { Speedometer, secondsLeft } from "./speed.ts";
import {
  ENDED_STATES,
  OPEN_STATES,
  BLOCKED_STATES,
  type Upload,
  type UploadTotals,
  type UploadsSnapshot,
} from "./types.ts";

/** The minimum interval between notifications, in milliseconds. */
const NOTIFY_EVERY_MS = 100;

/** The fields of an upload that can change. */
type UploadChange = Partial<Omit<Upload, "id">>;

/** The uploads in the order of adding, and their totals. */
export class UploadStore {
  private readonly uploads = new Map<string, Upload>();
  private readonly listeners = new Set<() => void>();
  private readonly speedometer = new Speedometer();
  private snapshot: UploadsSnapshot = { uploads: [], totals: totalsOf([], undefined) };
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** When the timer is due. */
  private dueMs = 0;
  private readonly now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /**
   * For useSyncExternalStore.
   * @returns a function that unsubscribes
   */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The latest snapshot; the same object until something changes. */
  readonly getSnapshot = (): UploadsSnapshot => this.snapshot;

  /** The current state of an upload; undefined if it was removed. */
  find(id: string): Upload | undefined {
    return this.uploads.get(id);
  }

  /** The current state of all uploads, as a copy that may be iterated while uploads change. */
  all(): Upload[] {
    return [...this.uploads.values()];
  }

  /** Appends uploads. */
  add(uploads: readonly Upload[]): void {
    for (const upload of uploads) this.uploads.set(upload.id, upload);
    this.notifySoon();
  }

  /**
   * Changes an upload; does nothing if it was removed.
   * @returns its new state
   */
  change(id: string, change: UploadChange): Upload | undefined {
    const upload = this.uploads.get(id);
    if (upload === undefined) return undefined;
    const changed = { ...upload, ...change };
    this.uploads.set(id, changed);
    this.notifySoon();
    return changed;
  }

  /** Records progress. Only bytes that were sent now count for the speed, not those that the server had already. */
  progress(id: string, sent: number, isContinuation: boolean): void {
    const upload = this.uploads.get(id);
    if (upload === undefined || upload.sent === sent) return;
    if (isContinuation) this.speedometer.add(sent - upload.sent, this.now());
    this.change(id, { sent, state: sent >= upload.size ? "finishing" : "sending", problem: undefined });
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) this.uploads.delete(id);
    this.notifySoon();
  }

  private notifySoon(delayMs = NOTIFY_EVERY_MS): void {
    const dueMs = this.now() + delayMs;
    if (this.timer !== undefined && this.dueMs <= dueMs) return;
    clearTimeout(this.timer);
    this.dueMs = dueMs;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.notify();
    }, delayMs);
  }

  private notify(): void {
    const uploads = this.all();
    const isMoving = uploads.some(({ state }) => state === "sending");
    if (!isMoving) this.speedometer.reset();
    this.snapshot = { uploads, totals: totalsOf(uploads, this.speedometer.speed(this.now())) };
    for (const listener of this.listeners) listener();
    // The speed falls while nothing is sent, and the remaining time grows.
    if (isMoving) this.notifySoon(1000);
  }
}

function totalsOf(uploads: readonly Upload[], bytesPerSecond: number | undefined): UploadTotals {
  let [filesDone, filesOpen, filesBlocked, bytes, bytesSent, bytesLeft] = [0, 0, 0, 0, 0, 0];
  const states = new Set<Upload["state"]>();
  for (const { state, size, sent } of uploads) {
    states.add(state);
    if (ENDED_STATES.has(state)) filesDone += 1;
    if (OPEN_STATES.has(state)) {
      filesOpen += 1;
      bytesLeft += size - sent;
    }
    if (BLOCKED_STATES.has(state)) filesBlocked += 1;
    bytes += size;
    bytesSent += ENDED_STATES.has(state) ? size : sent;
  }
  return {
    files: uploads.length,
    filesDone,
    filesOpen,
    filesBlocked,
    bytes,
    bytesSent,
    isSending: states.has("sending") || states.has("finishing"),
    isStalled: states.has("stalled") || states.has("signedOut"),
    isPaused: states.has("paused"),
    bytesPerSecond,
    secondsLeft: secondsLeft(bytesLeft, bytesPerSecond),
  };
}
