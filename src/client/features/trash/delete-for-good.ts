import { ApiError, messageOf, request } from "../../api/http.ts";
import type { TrashedEntry } from "../../api/types.ts";
import { toast } from "../../ui/toast.tsx";
import { showFailures, showRunning } from "../../entries/actions/status.tsx";
import { text as browseText } from "../../entries/text.ts";
import { text } from "./text.ts";

/** Calls side by side: the API deletes one at a time. */
const PARALLEL = 4;

/**
 * Deletes entries of the trash for good, each by itself; tells of those that could not be.
 * @returns ids of those that are gone, also by somebody else
 */
export async function deleteForGood(entries: readonly TrashedEntry[]): Promise<readonly string[]> {
  const waiting = [...entries];
  const gone: string[] = [];
  const failed: { name: string; message: string }[] = [];
  const work = async () => {
    for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
      try {
        await request("DELETE", `/api/files/trash/${entry.id}`);
        gone.push(entry.id);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) gone.push(entry.id);
        else failed.push({ name: entry.name, message: messageOf(error) });
      }
      showRunning({ title: text.deleting, done: gone.length + failed.length, of: entries.length });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  if (gone.length > 0) toast({ text: text.emptied(gone.length) });
  if (failed.length > 0) {
    toast({
      text: browseText.failedShort(failed.length),
      tone: "danger",
      action: { label: browseText.showFailed, run: () => showFailures(failed) },
    });
  }
  return gone;
}
