import { ApiError, messageOf, request } from "../../api/http.ts";
import type { TrashedEntry } from "../../api/types.ts";
import { toast } from "../../ui/toast.tsx";
import { showFailures, showRunning } from "../../entries/actions/action-status.tsx";
import { text as entriesText } from "../../entries/text.ts";
import { text } from "./text.ts";

/** How many requests run in parallel: the API deletes one entry at a time. */
const PARALLEL = 4;

/**
 * Deletes entries of the trash permanently, and shows those that failed.
 * @returns the ids of the entries that no longer exist, also if somebody else deleted them
 */
export async function deletePermanently(entries: readonly TrashedEntry[]): Promise<readonly string[]> {
  const queue = [...entries];
  const deleted: string[] = [];
  const failed: { name: string; message: string }[] = [];
  const deleteNext = async () => {
    for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) {
      try {
        await request("DELETE", `/api/files/trash/${entry.id}`);
        deleted.push(entry.id);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) deleted.push(entry.id);
        else failed.push({ name: entry.name, message: messageOf(error) });
      }
      showRunning({ title: text.deleting, done: deleted.length + failed.length, of: entries.length });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, deleteNext));
  if (deleted.length > 0) toast({ text: text.deletedPermanently({ n: deleted.length }) });
  if (failed.length > 0) {
    toast({
      text: entriesText.failedShort({ n: failed.length }),
      tone: "danger",
      action: { label: entriesText.showFailed, run: () => showFailures(failed) },
    });
  }
  return deleted;
}
