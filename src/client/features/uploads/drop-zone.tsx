import { Upload as UploadIcon } from "../../ui/icons.ts";
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { ApiError, messageOf, request } from "../../api/http.ts";
import { invalidateTree } from "../../api/queries.ts";
import { queryClient } from "../../api/query-client.ts";
import { cx } from "../../ui/cx.ts";
import { toast } from "../../ui/toast.tsx";
import { text } from "./text.ts";
import type { UploadSource } from "./engine/types.ts";
import { uploads } from "./uploads.ts";
import { carriesFiles, walkTransfer } from "./engine/walk.ts";

/** Dropped files are added to the upload queue in batches of this size. */
const BATCH_SIZE = 200;

/** Uploads files and folders into `folder` that are dropped on its content, or pasted anywhere on the page. */
export function DropZone({
  folder,
  share,
  disabled = false,
  className,
  children,
}: {
  readonly folder: string;
  readonly share?: string | undefined;
  /** Where uploads are not allowed. */
  readonly disabled?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  const [isOver, setIsOver] = useState(false);
  // Enter and leave events fire for every child element; only leaving the last entered one counts.
  const lastEntered = useRef<EventTarget | null>(null);

  useEffect(() => {
    if (disabled) return undefined;
    const paste = (event: ClipboardEvent): void => {
      const { clipboardData } = event;
      if (clipboardData === null || !carriesFiles(clipboardData) || isDialogOpen() || isField(event.target)) return;
      event.preventDefault();
      void uploadTransfer(clipboardData, folder, share, true);
    };
    document.addEventListener("paste", paste);
    return () => document.removeEventListener("paste", paste);
  }, [folder, share, disabled]);

  const accept = (event: DragEvent): boolean => {
    if (disabled || !carriesFiles(event.dataTransfer)) return false;
    event.preventDefault();
    return true;
  };

  return (
    <div
      className={cx("relative", className)}
      onDragEnter={(event) => {
        if (!accept(event)) return;
        lastEntered.current = event.target;
        setIsOver(true);
      }}
      onDragOver={(event) => {
        if (accept(event)) event.dataTransfer.dropEffect = "copy";
      }}
      onDragLeave={(event) => {
        if (event.target === lastEntered.current) setIsOver(false);
      }}
      onDrop={(event) => {
        setIsOver(false);
        if (accept(event)) void uploadTransfer(event.dataTransfer, folder, share, false);
      }}
    >
      {children}
      {isOver && (
        <div className="pointer-events-none absolute inset-1 z-30 flex items-center justify-center rounded-xl border-2 border-dashed border-accent bg-accent-soft/90">
          <p className="flex items-center gap-3 rounded-xl bg-raised px-5 py-3 font-medium shadow-lg">
            <UploadIcon aria-hidden className="text-accent" />
            {text.dropHere(folder === "/" ? text.home : (folder.split("/").at(-1) ?? folder))}
          </p>
        </div>
      )}
    </div>
  );
}

/** Reads all dropped items and uploads them, batch by batch. */
async function uploadTransfer(
  transfer: DataTransfer,
  folder: string,
  share: string | undefined,
  isPaste: boolean,
): Promise<void> {
  const unreadable: string[] = [];
  const walk = walkTransfer(transfer, (path) => void unreadable.push(path));
  let pending: UploadSource[] = [];
  let batch: string | undefined;
  let fileCount = 0;
  const createdFolders = new Set<string>();
  const flush = async (): Promise<void> => {
    const next = pending;
    pending = [];
    batch = await uploads.add(next, folder, { share, batch });
  };
  for await (const item of walk) {
    if ("emptyFolder" in item) await makeFolder(folder, item.emptyFolder, share, createdFolders);
    else {
      pending.push(isPaste ? withPastedName(item) : item);
      fileCount += 1;
    }
    if (pending.length < BATCH_SIZE) continue;
    await flush();
    toast({ id: "reading-folders", text: text.readingFolders(fileCount) });
  }
  await flush();
  if (createdFolders.size > 0) await invalidateTree(queryClient);
  if (unreadable.length > 0) toast({ text: text.unreadable(unreadable.length), tone: "danger" });
}

/** Pasted images are all called image.png; they are named by the time of pasting. */
function withPastedName(source: UploadSource): UploadSource {
  const { file } = source;
  if (file.name !== "image.png") return source;
  const now = new Date();
  const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000);
  const time = local.toISOString().slice(0, 19).replace("T", " ").replaceAll(":", "-");
  const renamed = new File([file], `${text.pastedName(time)}.png`, {
    type: file.type,
    lastModified: file.lastModified,
  });
  return { file: renamed, path: renamed.name };
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
        toast({ text: text.emptyFolderFailed(path, messageOf(error)), tone: "danger" });
        return;
      }
    }
    created.add(address);
    parent = address;
  }
}

/** In text fields, pasting belongs to the field: office programs add an image to copied text. */
function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches(":read-write");
}

function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;
}
