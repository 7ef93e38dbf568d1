// Uploads files and folders while they are still being read.
import { ApiError, messageOf, request } from "../../api/http.ts";
import { invalidateTree } from "../../api/queries.ts";
import { queryClient } from "../../api/query-client.ts";
import { toast } from "../../ui/toast.tsx";
import type { AddOptions } from "./engine/engine.ts";
import type { UploadSource } from "./engine/types.ts";
import type { WalkedItem } from "./engine/walk.ts";
import { text } from "./text.ts";

/** Adds files to a batch of the upload queue, or to a new one, and returns it. */
type AddBatch = (
  items: readonly UploadSource[],
  folder: string,
  options: Pick<AddOptions, "share" | "batch">,
) => Promise<string | undefined>;

/** Files are added to the upload queue in batches of this size. */
const BATCH_SIZE = 200;

/**
 * Uploads what a walk finds into a folder, batch by batch, and creates the empty folders.
 * @param walk starts the walk; it reports each unreadable path to its parameter
 * @param add adds a batch to the queue
 */
export async function uploadWalk(
  walk: (onUnreadable: (path: string) => void) => AsyncIterable<WalkedItem>,
  folder: string,
  share: string | undefined,
  add: AddBatch,
): Promise<void> {
  const unreadable: string[] = [];
  const progress = new ReadingMessage();
  let pending: UploadSource[] = [];
  let batch: string | undefined;
  const createdFolders = new Set<string>();
  const flush = async (): Promise<void> => {
    const next = pending;
    pending = [];
    batch = await add(next, folder, { share, batch });
  };
  try {
    for await (const item of walk((path) => void unreadable.push(path))) {
      if ("emptyFolder" in item) await makeFolder(folder, item.emptyFolder, share, createdFolders);
      else {
        pending.push(item);
        progress.count(item.path);
      }
      if (pending.length < BATCH_SIZE) continue;
      await flush();
      progress.show();
    }
  } finally {
    progress.end();
  }
  await flush();
  if (createdFolders.size > 0) await invalidateTree(queryClient);
  if (unreadable.length > 0) toast({ text: text.unreadable({ n: unreadable.length }), tone: "danger" });
}

/** Says how many files of folders were read so far, until all are read. */
class ReadingMessage {
  private files = 0;
  private hasFolder = false;
  private remove: (() => void) | undefined;

  count(path: string): void {
    this.files += 1;
    this.hasFolder ||= path.includes("/");
  }

  /** Shows the number; nothing for single files, which are read at once. */
  show(): void {
    if (this.hasFolder) this.remove = toast({ id: "reading-folders", text: text.readingFolders({ n: this.files }) });
  }

  end(): void {
    this.remove?.();
  }
}

/** Creates an empty folder and its parents, except those in `created`. */
async function makeFolder(
  folder: string,
  path: string,
  share: string | undefined,
  created: Set<string>,
): Promise<void> {
  let parent = folder;
  for (const name of path.split("/")) {
    const address = parent === "/" ? `/${name}` : `${parent}/${name}`;
    try {
      if (!created.has(address)) await request("POST", "/api/files/folders", { body: { name, path: parent, share } });
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === "name_taken")) {
        toast({ text: text.emptyFolderFailed({ path, why: messageOf(error) }), tone: "danger" });
        return;
      }
    }
    created.add(address);
    parent = address;
  }
}
