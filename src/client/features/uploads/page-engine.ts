// The engine of this page, tied to account, session, lists and browser. It is loaded apart from the pages that add to it.
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

/** Lists are asked for again at most so often while files arrive, in milliseconds. */
const REFRESH_EVERY_MS = 2000;

let refreshTimer: ReturnType<typeof setTimeout> | undefined;
let engine: UploadEngine | undefined;

/** The engine of this page, made when it is first needed. */
export function uploadEngine(): UploadEngine {
  engine ??= makeEngine();
  return engine;
}

/** All uploads and what they come to, followed ten times a second at most. */
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
      // Where the server can't be asked, the next attempt tells so in better words.
      if (!(await recoverSession().catch(() => true))) await whenSignedIn();
    },
    onStored: () => {
      refreshTimer ??= setTimeout(refresh, REFRESH_EVERY_MS);
    },
    onSettled: (stored, blocked) => {
      if (stored > 0) refresh();
      const parts = [stored > 0 ? text.announceDone(stored) : "", blocked > 0 ? text.announceProblems(blocked) : ""];
      announce(parts.filter((word) => word !== "").join(". "));
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
