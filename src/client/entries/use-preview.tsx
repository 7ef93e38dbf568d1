import { useQuery } from "@tanstack/react-query";
import { type ReactNode, Suspense, useEffect, useMemo, useRef } from "react";
import { ApiError } from "../api/http.ts";
import type { Entry, FileRecord } from "../api/types.ts";
import { useSteppedOverlay } from "../base/overlays.ts";
import { lazyPart } from "../ui/lazy-part.ts";
import { showError } from "../ui/toast.tsx";
import type { Collection } from "./collection/use-collection.ts";
import { entryQuery } from "./entry-query.ts";
import { afterFocusReturns } from "./focus.ts";
import { useNoteOpened } from "./note-opened.ts";
import { filesOfList, isFile, type PreviewSource } from "./preview-source.ts";
import { type FileWindow, useFileWindow } from "./use-file-window.ts";

const Preview = lazyPart(() => import("./preview/preview.tsx").then((part) => part.Preview));
const MissingFile = lazyPart(() => import("./preview/missing-file.tsx").then((part) => part.MissingFile));

/**
 * Shows the file in the address (`view=`) in the preview, with the files of a collection before and after it.
 * @param source the files to go through; by default those of the collection
 */
export function usePreview<T extends Entry>(
  collection: Collection<T>,
  onClosed: () => void,
  { source }: { readonly source?: PreviewSource | undefined } = {},
) {
  const { pages, point } = collection;
  const files = useMemo(() => source ?? filesOfList(collection.source), [source, collection.source]);
  const findKnown = (id: string) => [...pages.known()].find(([, entry]) => entry.id === id);
  return useFilePreview(files, {
    findKnown: (id) => {
      const known = findKnown(id)?.[1];
      return known !== undefined && isFile(known) ? known : undefined;
    },
    onClosed: (id, { position, total }) => {
      // The dialog returns the focus to the file it was opened from, in the next frame. Then it moves to the last shown
      // file.
      afterFocusReturns(() => {
        onClosed();
        const folders = files.isAfterFolders === true && total !== undefined ? (pages.total ?? 0) - total : undefined;
        const beyond = folders === undefined || position === undefined ? undefined : folders + position;
        const to = findKnown(id)?.[0] ?? beyond;
        if (to !== undefined) afterFocusReturns(() => point(to));
      });
    },
  });
}

/** Options of {@link useFilePreview}. */
interface FilePreviewOptions {
  /** A file that is known already, so that it is shown at once. */
  findKnown?(id: string): FileRecord | undefined;
  /** Called with the file that was shown last. */
  onClosed?(id: string, window: FileWindow): void;
}

/** Shows the file in the address (`view=`) in the preview, with the files of a list before and after it. */
export function useFilePreview(
  source: PreviewSource,
  { findKnown, onClosed }: FilePreviewOptions,
): { readonly open: (id: string) => void; readonly preview: ReactNode } {
  const view = useSteppedOverlay("view");
  const id = view.value;
  const window = useFileWindow(source, id);
  const { file, isGone } = useShownFile(id, window, findKnown);
  useNoteOpened(isGone ? undefined : file?.id);
  useOnClosed(id, window, onClosed);

  // Changes with each file that is shown, also if the same one is opened again.
  const shown = useRef(0);
  useEffect(() => {
    shown.current += 1;
  }, [id]);
  const goTo = (position: number) => {
    const before = shown.current;
    const isCurrent = () => shown.current === before;
    window.load(position, isCurrent).then((found) => found !== undefined && view.replace(found.id), showError);
  };
  const isInList = window.index >= 0;
  const items = isInList ? window.items : file === undefined ? [] : [file];
  const preview = id !== undefined && (
    <Suspense fallback={null}>
      {isGone && <MissingFile onClose={view.close} />}
      {file !== undefined && !isGone && (
        <Preview
          items={items}
          index={Math.max(0, window.index)}
          position={window.isMissing ? 0 : window.position}
          total={window.isMissing ? 1 : isInList ? window.total : undefined}
          onIndexChange={(index: number) => {
            const next = items[index];
            if (next !== undefined) view.replace(next.id);
          }}
          onGoTo={goTo}
          onClose={view.close}
        />
      )}
    </Suspense>
  );
  return { open: view.open, preview };
}

/** The record of the file that is shown, from the list if possible. `isGone` if it can't be seen. */
function useShownFile(
  id: string | undefined,
  { items, index, isMissing }: FileWindow,
  findKnown: ((id: string) => FileRecord | undefined) | undefined,
): { readonly file: FileRecord | undefined; readonly isGone: boolean } {
  const last = useRef<FileRecord | undefined>(undefined);
  const listed = id === undefined ? undefined : (items[index] ?? findKnown?.(id));
  const former = last.current?.id === id ? last.current : undefined;
  const record = useQuery({
    ...entryQuery(id ?? ""),
    enabled: id !== undefined && listed === undefined && (former === undefined || isMissing),
  });
  const loaded = record.data?.type === "file" && record.data.id === id ? record.data : undefined;
  const file = listed ?? loaded ?? former;
  useEffect(() => {
    last.current = file;
  });
  const isRejected = record.error instanceof ApiError && record.error.status === 404;
  const isGone = listed === undefined && (isRejected || record.data?.type === "folder");
  useEffect(() => {
    if (record.error !== null && !isRejected) showError(record.error);
  }, [record.error, isRejected]);
  return { file, isGone };
}

/** Calls `onClosed` when the preview was closed in any way, such as by Back. */
function useOnClosed(
  id: string | undefined,
  window: FileWindow,
  onClosed: ((id: string, window: FileWindow) => void) | undefined,
): void {
  const shown = useRef<{ readonly id: string; readonly window: FileWindow } | undefined>(undefined);
  const latest = useRef(onClosed);
  useEffect(() => {
    latest.current = onClosed;
    const last = shown.current;
    shown.current = id === undefined ? undefined : { id, window };
    if (id === undefined && last !== undefined) latest.current?.(last.id, last.window);
  });
}
