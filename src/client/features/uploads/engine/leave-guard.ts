// While files are being sent the page asks before it is left, and keeps the device awake where the browser lets it. A file
// that is dropped beside the place for it would make the browser leave the page for that file: it is refused.
import type { UploadStore } from "./upload-store.ts";
import { carriesFiles } from "./walk.ts";

/** Follows the board for the life of the page. */
export function guardLeaving(store: Pick<UploadStore, "subscribe" | "getSnapshot">): void {
  let isSending = false;
  let wakeLock: Promise<WakeLockSentinel | undefined> | undefined;

  const acquireLock = (): void => {
    // Not there on plain HTTP, and refused when the battery is low: sending goes on without.
    if ("wakeLock" in navigator) wakeLock = navigator.wakeLock.request("screen").catch(() => undefined);
  };
  const releaseLock = (): void => {
    void wakeLock?.then((lock) => lock?.release());
    wakeLock = undefined;
  };

  store.subscribe(() => {
    const isNowSending = store.getSnapshot().totals.filesOpen > 0;
    if (isNowSending === isSending) return;
    isSending = isNowSending;
    if (isSending) {
      window.addEventListener("beforeunload", askBeforeLeaving);
      acquireLock();
    } else {
      window.removeEventListener("beforeunload", askBeforeLeaving);
      releaseLock();
    }
  });
  document.addEventListener("visibilitychange", () => {
    // The browser lets go of it by itself when the page is hidden.
    if (isSending && !document.hidden) acquireLock();
  });
  for (const type of ["dragover", "drop"] as const) document.addEventListener(type, rejectStrayFiles);
}

/** Comes after every place that takes files. */
function rejectStrayFiles(event: DragEvent): void {
  if (event.defaultPrevented || event.dataTransfer === null || !carriesFiles(event.dataTransfer)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "none";
}

function askBeforeLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
