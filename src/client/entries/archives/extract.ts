/** Extracts an archive on the server, and shows the progress. It continues there if this page is left. */
import { ApiError, request } from "../../api/http.ts";
import { queryClient } from "../../api/query-client.ts";
import { invalidateTree } from "../../api/queries.ts";
import type { Schemas } from "../../api/generated.ts";
import type { FileRecord } from "../../api/types.ts";
import type { Destination } from "../actions/bulk.ts";
import { showError, toast } from "../../ui/toast.tsx";
import { runningExtractions } from "./running-extractions.ts";
import { text } from "./text.ts";

type Extraction = Schemas["Extraction"];

/** How often the progress is requested: often at first, so that small archives are there at once. */
const POLL_MS = { first: 200, last: 3_000, factor: 1.5 } as const;

/** Where an archive is extracted to. */
interface ExtractOptions {
  /** Undefined for the folder of the archive. */
  readonly to: Destination | undefined;
  /** Opens the new folder; undefined if it has no page of its own. */
  readonly openFolder: ((path: string) => void) | undefined;
}

/** Extracts an archive into a new folder. Never throws: errors are shown. */
export async function extractArchive(file: Pick<FileRecord, "id">, { to, openFolder }: ExtractOptions): Promise<void> {
  const body = to === undefined ? {} : { folderPath: to.folder, share: to.share };
  try {
    const begun = await request<Extraction>("POST", `/api/files/${file.id}/extract`, { body });
    show(begun, await untilEnded(begun), openFolder);
  } catch (error) {
    // The server forgets extractions when it stops.
    if (error instanceof ApiError && error.status === 404) toast({ text: text.lost, tone: "danger" });
    else showError(error);
  }
  await invalidateTree(queryClient);
}

async function untilEnded(begun: Extraction): Promise<Extraction> {
  let extraction = begun;
  const update = (next: Extraction | undefined) =>
    runningExtractions.update((known) => [
      ...known.filter(({ id }) => id !== begun.id),
      ...(next === undefined ? [] : [next]),
    ]);
  try {
    for (let delayMs: number = POLL_MS.first; ; delayMs = Math.min(delayMs * POLL_MS.factor, POLL_MS.last)) {
      if (extraction.state !== "waiting" && extraction.state !== "running") return extraction;
      update(extraction);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      extraction = await request<Extraction>("GET", `/api/files/extractions/${begun.id}`);
    }
  } finally {
    update(undefined);
  }
}

function show(begun: Extraction, { state, folder, error }: Extraction, open: ExtractOptions["openFolder"]): void {
  if (state === "canceled") toast({ text: text.canceled });
  if (error !== null) toast({ text: `${begun.fileName}: ${error.message}`, tone: "danger" });
  if (folder === null) return;
  toast({
    text: text.extracted({ folder: folder.path.slice(folder.path.lastIndexOf("/") + 1) }),
    ...(open !== undefined && { action: { label: text.openFolder, run: () => open(folder.path) } }),
  });
}
