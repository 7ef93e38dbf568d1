// The engine of this page, tied to account, session, lists and browser. It is loaded apart from the pages that add to it.
import { useSyncExternalStore } from "react";
import { announce } from "../../base/announce.ts";
import { recoverSession, whenSignedIn } from "../../api/session.ts";
import { href } from "../../api/http.ts";
import { invalidateTree } from "../../api/queries.ts";
import { queryClient } from "../../api/query-client.ts";
import { UploadEngine } from "./engine/engine.ts";
import { openKeeper } from "./engine/keeper.ts";
import { guardLeaving } from "./engine/leave-guard.ts";
import { UploadMemory } from "./engine/memory.ts";
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
  const { board } = uploadEngine();
  return useSyncExternalStore(board.subscribe, board.getSnapshot);
}

function makeEngine(): UploadEngine {
  const made = new UploadEngine({
    endpoint: () => new URL(href("/api/tus"), window.location.href).href,
    send: sendByTus,
    terminate: terminateUpload,
    memory: new UploadMemory(openKeeper(), ownTab()),
    whenSignedIn: async () => {
      // Where the server can't be asked, the next attempt tells so in better words.
      if (!(await recoverSession().catch(() => true))) await whenSignedIn();
    },
    onStored: () => {
      refreshTimer ??= setTimeout(refresh, REFRESH_EVERY_MS);
    },
    onSettled: (stored, troubled) => {
      if (stored > 0) refresh();
      const words = [stored > 0 ? text.announceDone(stored) : "", troubled > 0 ? text.announceTrouble(troubled) : ""];
      announce(words.filter((word) => word !== "").join(". "));
    },
  });
  guardLeaving(made.board);
  window.addEventListener("online", () => made.wake());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) made.wake();
  });
  return made;
}

function refresh(): void {
  clearTimeout(refreshTimer);
  refreshTimer = undefined;
  void invalidateTree(queryClient);
}
