import { type ReactNode, Suspense, useRef, useState } from "react";
import type { Entry, FileRecord } from "../api/types.ts";
import { lazyPart } from "../ui/lazy-part.ts";
import { PAGE_SIZE } from "./collection/page-window.ts";
import type { Collection } from "./collection/use-collection.ts";
import { afterFocusReturns } from "./focus.ts";

const Preview = lazyPart(() => import("./preview/preview.tsx").then((part) => part.Preview));

/** A file with its position in the list. */
interface ShownFile {
  readonly file: FileRecord;
  readonly position: number;
}

interface PreviewState {
  /** Aborted when the viewer is closed: what was asked for it is not meant for the next one. */
  readonly viewing: AbortController;
  readonly shown: readonly ShownFile[];
  readonly index: number;
  /** The positions that were looked through for files, both ends included. */
  readonly first: number;
  readonly last: number;
}

/** Shows the files of a list one after another; further pages are loaded when the end of those known is near. */
export function usePreview<T extends Entry>(collection: Collection<T>, onClosed: () => void) {
  const [state, setState] = useState<PreviewState>();
  /** The viewer that a page is being loaded for. */
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
    // What can't be loaded is not gone on to; what is known is still shown.
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
    // The dialog gives the focus back to the file that it was opened from, in the next frame; then it goes on from there.
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

function ignore(): void {
  return;
}
