import { Upload as UploadIcon } from "../../ui/icons.ts";
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { cx } from "../../ui/cx.ts";
import { text } from "./text.ts";
import type { UploadSource } from "./engine/types.ts";
import { uploads } from "./uploads.ts";
import { uploadWalk } from "./upload-walk.ts";
import { carriesFiles, type WalkedItem, walkTransfer } from "./engine/walk.ts";

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
  const [isTaken, setTaken] = useState(false);
  // Enter and leave events fire for every child element; only leaving the last entered one counts.
  const lastEntered = useRef<EventTarget | null>(null);

  useEffect(() => {
    if (disabled) return undefined;
    const paste = (event: ClipboardEvent): void => {
      const { clipboardData } = event;
      if (clipboardData === null || !carriesFiles(clipboardData) || isDialogOpen() || isField(event.target)) return;
      event.preventDefault();
      void uploadWalk((skip) => named(walkTransfer(clipboardData, skip)), folder, share, uploads.add);
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
        // A folder of the list takes the files. It is marked, so this is not.
        setTaken(event.defaultPrevented);
        if (!event.defaultPrevented && accept(event)) event.dataTransfer.dropEffect = "copy";
      }}
      onDragLeave={(event) => {
        if (event.target === lastEntered.current) setIsOver(false);
      }}
      onDrop={(event) => {
        setIsOver(false);
        if (!event.defaultPrevented && accept(event))
          void uploadWalk((skip) => walkTransfer(event.dataTransfer, skip), folder, share, uploads.add);
      }}
    >
      {children}
      {isOver && !isTaken && <DropHint folder={folder} />}
    </div>
  );
}

/** Says where a drop goes. The list stays visible below it, as its folders take files too. */
function DropHint({ folder }: { readonly folder: string }) {
  return (
    <div className="pointer-events-none absolute inset-1 z-30 flex items-end justify-center rounded-xl border-2 border-dashed border-accent bg-accent-soft/30 pb-8">
      <p className="flex items-center gap-3 rounded-xl bg-raised px-5 py-3 font-medium shadow-lg">
        <UploadIcon aria-hidden className="text-accent" />
        {text.dropHere({ folder: folder === "/" ? text.home : (folder.split("/").at(-1) ?? folder) })}
      </p>
    </div>
  );
}

/** The pasted items, with their names. */
async function* named(walk: AsyncIterable<WalkedItem>): AsyncGenerator<WalkedItem> {
  for await (const item of walk) yield "emptyFolder" in item ? item : withPastedName(item);
}

/** Pasted images are all called image.png; they are named by the time of pasting. */
function withPastedName(source: UploadSource): UploadSource {
  const { file } = source;
  if (file.name !== "image.png") return source;
  const now = new Date();
  const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000);
  const time = local.toISOString().slice(0, 19).replace("T", " ").replaceAll(":", "-");
  const renamed = new File([file], `${text.pastedName({ time })}.png`, {
    type: file.type,
    lastModified: file.lastModified,
  });
  return { file: renamed, path: renamed.name };
}

/** In text fields, pasting belongs to the field: office programs add an image to copied text. */
function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches(":read-write");
}

function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;
}
