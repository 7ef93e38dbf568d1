/** Reports to the server which files the preview showed, for the list of recent files. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { apiAddress } from "../api/http.ts";
import { keys } from "../api/queries.ts";
import { ignore } from "../base/ignore.ts";

/** Files that are shown for a shorter time were only passed on the way to another one. */
const SHOWN_MS_MIN = 1_000;

/** Shown files in order, the last one last. */
const shown = new Set<string>();

/**
 * Notes the file of the preview; undefined while it is closed. They are sent when the preview closes: until then, the order
 * of the list behind it, which decides what the next file is, must not change.
 */
export function useNoteOpened(fileId: string | undefined): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    if (fileId === undefined) return undefined;
    const timer = setTimeout(() => {
      shown.delete(fileId);
      shown.add(fileId);
    }, SHOWN_MS_MIN);
    return () => clearTimeout(timer);
  }, [fileId]);
  const isOpen = fileId !== undefined;
  useEffect(() => {
    if (!isOpen) return undefined;
    const sendAtEnd = () => void send();
    window.addEventListener("pagehide", sendAtEnd);
    return () => {
      window.removeEventListener("pagehide", sendAtEnd);
      if (shown.size > 0) void send().then(() => queryClient.invalidateQueries({ queryKey: keys.recent }));
    };
  }, [isOpen, queryClient]);
}

/** Sends what was noted. Nothing depends on it, so a failure is not shown, nor tried again. */
async function send(): Promise<void> {
  const ids = [...shown];
  shown.clear();
  for (const id of ids) {
    // oxlint-disable-next-line no-await-in-loop -- in the order in which they were opened
    await fetch(apiAddress(`/api/files/${id}/opened`), { method: "POST", keepalive: true }).catch(ignore);
  }
}
