import { type ReactNode, Suspense, useRef, useState } from "react";
import type { Entry, FileRecord } from "../api/types.ts";
import { lazyPart } from "../ui/lazy-part.ts";
import { PAGE_SIZE } from "./collection/page-window.ts";
import type { Collection } from "./collection/use-collection.ts";
import { afterFocusReturns } from "./focus.ts";
import { ignore } from "../base/ignore.ts";

const Preview = lazyPart(() => import("./preview/preview.tsx").then((part) => part.Preview));

/** A file with its position in the list. */
interface ShownFile {
  readonly file: FileRecord;
  readonly position: number;
}

interface PreviewState {
  /** Aborted when the preview is closed, so that late results don't affect the next one. */
  readonly viewing: AbortController;
  readonly shown: readonly ShownFile[];
  readonly index: number;
  /** The range of positions that was searched for files, both ends included. */
  readonly first: number;
  readonly last: number;
}

/** Shows the files of a list in the preview. More pages are loaded when the end of the known ones is near. */
export function usePreview<T extends Entry>(collection: Collection<T>, onClosed: () => void) {
  const [state, setState] = useState<PreviewState>();
  /** The preview that a page is being loaded for. */
  const loadingFor = useRef<AbortController | undefined>(undefined);

  const extend = async (from: PreviewState, direction: 1 | -1) => {
    const { viewing } = from;
    const total = collection.pages.total ?? 0;
    const span =
      direction === 1
        ? { first: from.last + 1, last: Math.min(total - 1, from.last + PAGE_SIZE) }
        : { first: Math.max(0, from.first - PAGE_SIZE), last: from.first - 1 };
    if (loadingFor.current === viewing || span.last < span.first) return;
    loadingFor.current = viewing;
    try {
      const files = filesOf(await collection.pages.load(span, undefined, viewing.signal), span.first);
      setState((now) => {
        if (now?.viewing !== viewing) return now;
        return direction === 1
          ? { ...now, shown: [...now.shown, ...files], last: span.last }
          : { ...now, shown: [...files, ...now.shown], index: now.index + files.length, first: span.first };
      });
    } finally {
      if (loadingFor.current === viewing) loadingFor.current = undefined;
    }
  };
  const goTo = (next: PreviewState) => {
    setState(next);
    // If more pages can't be loaded, the known files are still shown.
    if (next.index >= next.shown.length - 2) extend(next, 1).catch(ignore);
    if (next.index <= 1) extend(next, -1).catch(ignore);
  };

  const open = (position: number) => {
    const known = collection.pages.known();
    let [first, last] = [position, position];
    while (known.has(first - 1)) first -= 1;
    while (known.has(last + 1)) last += 1;
    const entries = Array.from({ length: last - first + 1 }, (_, offset) => known.get(first + offset));
    const shown = filesOf(entries, first);
    const index = shown.findIndex((one) => one.position === position);
    if (index >= 0) goTo({ viewing: new AbortController(), shown, index, first, last });
  };

  const close = () => {
    const current = state?.shown[state.index];
    state?.viewing.abort();
    setState(undefined);
    // The dialog returns the focus to the file it was opened from, in the next frame. Then it moves to the last shown
    // file.
    afterFocusReturns(() => {
      if (current !== undefined) collection.point(current.position);
      onClosed();
    });
  };

  const preview: ReactNode = state !== undefined && (
    <Suspense fallback={null}>
      <Preview
        items={state.shown.map(({ file }) => file)}
        index={state.index}
        onIndexChange={(index: number) => goTo({ ...state, index })}
        onClose={close}
      />
    </Suspense>
  );
  return { open, preview };
}

function filesOf(entries: readonly (Entry | undefined)[], first: number): ShownFile[] {
  return entries.flatMap((entry, offset) =>
    entry?.type === "file" ? [{ file: entry, position: first + offset }] : [],
  );
}
