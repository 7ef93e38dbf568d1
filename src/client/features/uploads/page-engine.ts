// The upload engine of this page, connected to account, session, lists and browser. Loaded separately from the pages
// that add files.
import { useSyncExternalStore } from "react";
import { announce } from "../../base/announce.ts";
import { recoverSession, whenSignedIn } from "../../api/session.ts";
import { href } from "../../api/http.ts";
import { invalidateTree } from "../../api/queries.ts";
import { queryClient } from "../../api/query-client.ts";
import { UploadEngine } from "./engine/engine.ts";
import { openUploadDatabase } from "./engine/upload-db.ts";
import { guardLeaving } from "./engine/leave-guard.ts";
import { UploadPersistence } from "./engine/persistence.ts";
import { ownTab } from "./engine/tabs.ts";
import { text } from "./text.ts";
import { sendByTus, terminateUpload } from "./engine/transfer.ts";
import type { UploadsSnapshot } from "./engine/types.ts";

/** How often lists are refreshed at most while files are uploaded, in milliseconds. */
const REFRESH_EVERY_MS = 2000;

let refreshTimer: ReturnType<typeof setTimeout> | undefined;
let engine: UploadEngine | undefined;

/** The engine of this page, created on first use. */
export function uploadEngine(): UploadEngine {
  engine ??= makeEngine();
  return engine;
}

/** All uploads and their totals, updated at most ten times a second. */
export function useUploads(): UploadsSnapshot {
  const { store } = uploadEngine();
  return useSyncExternalStore(store.subscribe, store.getSnapshot);
}

function makeEngine(): UploadEngine {
  const created = new UploadEngine({
    endpoint: () => new URL(href("/api/tus"), window.location.href).href,
    send: sendByTus,
    terminate: terminateUpload,
    persistence: new UploadPersistence(openUploadDatabase(), ownTab()),
    whenSignedIn: async () => {
      // If the server can't be asked, the next attempt fails with a better message.
      if (!(await recoverSession().catch(() => true))) await whenSignedIn();
    },
    onStored: () => {
      refreshTimer ??= setTimeout(refresh, REFRESH_EVERY_MS);
    },
    onSettled: (stored, blocked) => {
      if (stored > 0) refresh();
      const parts = [
        stored > 0 ? text.announceDone({ n: stored }) : "",
        blocked > 0 ? text.announceProblems({ n: blocked }) : "",
      ];
      announce(parts.filter((part) => part !== "").join(". "));
    },
  });
  guardLeaving(created.store);
  window.addEventListener("online", () => created.wake());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) created.wake();
  });
  return created;
}

function refresh(): void {
  clearTimeout(refreshTimer);
  refreshTimer = undefined;
  void invalidateTree(queryClient);
}
