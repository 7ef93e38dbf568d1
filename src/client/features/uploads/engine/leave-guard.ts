// While files are being sent, asks before the page is closed, and keeps the device awake if the browser allows it.
// Files that are dropped outside of a drop zone are rejected, because the browser would leave the page to open them.
import type { UploadStore } from "./upload-store.ts";
import { carriesFiles } from "./walk.ts";

/** Watches the uploads as long as the page is open. */
export function guardLeaving(store: Pick<UploadStore, "subscribe" | "getSnapshot">): void {
  let isSending = false;
  let wakeLock: Promise<WakeLockSentinel | undefined> | undefined;

  const acquireLock = (): void => {
    // Missing on plain HTTP, and rejected when the battery is low. Sending works without it.
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
      window.addEventListener("beforeunload", confirmLeaving);
      acquireLock();
    } else {
      window.removeEventListener("beforeunload", confirmLeaving);
      releaseLock();
    }
  });
  document.addEventListener("visibilitychange", () => {
    // The browser releases the lock automatically when the page is hidden.
    if (isSending && !document.hidden) acquireLock();
  });
  for (const type of ["dragover", "drop"] as const) document.addEventListener(type, rejectStrayFiles);
}

/** Runs after all drop zones. */
function rejectStrayFiles(event: DragEvent): void {
  if (event.defaultPrevented || event.dataTransfer === null || !carriesFiles(event.dataTransfer)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "none";
}

function confirmLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
