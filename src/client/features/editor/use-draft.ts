import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useSession } from "../../api/session.ts";
import { onTabMessage } from "../../api/tabs.ts";
import { ignore } from "../../base/ignore.ts";
import { draftsOf } from "./drafts.ts";
import type { StoredText } from "./document.ts";

/** How long after a change the draft is stored. */
const DELAY_MS = 500;

/** Stores unsaved changes of a file shortly after each change, and at once when the page is hidden or left. */
export function useDraft(fileId: string, read: () => StoredText | undefined) {
  const { user } = useSession();
  const store = useMemo(() => draftsOf(user.id, fileId), [user.id, fileId]);
  const [hasFailed, setFailed] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(read);
  const isSignedOut = useRef(false);
  /** One write after the other, so that no draft comes back after it was deleted. */
  const last = useRef<Promise<void>>(Promise.resolve());
  useEffect(() => {
    latest.current = read;
  });
  const write = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = undefined;
    const current = latest.current();
    if (current === undefined || isSignedOut.current) return;
    const { text, format, etag } = current;
    last.current = last.current
      .then(() => store.save({ text, format, etag, changedAtMs: Date.now() }))
      .then(
        () => setFailed(false),
        () => setFailed(true),
      );
  }, [store]);
  const forget = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = undefined;
    last.current = last.current.then(() => store.delete()).catch(ignore);
    return last.current;
  }, [store]);
  // Another tab that signs out deletes all drafts. Until this page has left, it must store no new one.
  useEffect(
    () =>
      onTabMessage((message) => {
        if (message.kind === "signed-out") {
          isSignedOut.current = true;
          void forget();
        } else if (message.userId === user.id) isSignedOut.current = false;
      }),
    [forget, user.id],
  );
  useEffect(() => {
    const flush = () => {
      if (timer.current !== undefined) write();
    };
    window.addEventListener("pagehide", flush);
    document.addEventListener("visibilitychange", flush);
    return () => {
      window.removeEventListener("pagehide", flush);
      document.removeEventListener("visibilitychange", flush);
      flush();
    };
  }, [write]);
  return {
    hasFailed,
    noteChange: () => {
      timer.current ??= setTimeout(write, DELAY_MS);
    },
    forget,
  };
}
