import { type ReactNode, Suspense, useRef, useState } from "react";
import { ignore } from "../../base/ignore.ts";
import { lazyPart } from "../../ui/lazy-part.ts";
import { neighborOf, type SlideFile, slidesOf } from "./slides.ts";

const Slideshow = lazyPart(() => import("./slideshow.tsx").then((part) => part.Slideshow));

/** Options of a slideshow. */
interface SlideshowOptions<T extends SlideFile> {
  /** The first slide; by default the first of the list. */
  readonly from?: string | undefined;
  /** Loads the files after the last one of the list; empty at the end. Called when the end is near. */
  readonly loadMore?: (last: T) => Promise<readonly T[]>;
}

interface Running<T extends SlideFile> extends SlideshowOptions<T> {
  readonly files: readonly T[];
  readonly current: string;
}

/**
 * A slideshow of a list of files. Call `start` from a press or a key: browsers allow full screen only then.
 * @param onEnd called with the file that was shown last
 */
export function useSlideshow<T extends SlideFile>(onEnd?: (id: string) => void) {
  const [running, setRunning] = useState<Running<T>>();
  const isLoading = useRef(false);

  const start = (all: readonly T[], options: SlideshowOptions<T> = {}) => {
    const files = slidesOf(all);
    const first = files.find(({ id }) => id === options.from) ?? files[0];
    if (first !== undefined) setRunning({ ...options, files, current: first.id });
  };

  const extend = async ({ files, loadMore }: Running<T>) => {
    const last = files.at(-1);
    if (loadMore === undefined || last === undefined || isLoading.current) return;
    isLoading.current = true;
    try {
      const known = new Set(files.map(({ id }) => id));
      const more = slidesOf(await loadMore(last)).filter(({ id }) => !known.has(id));
      setRunning((now) => (now?.files === files ? { ...now, files: [...files, ...more] } : now));
    } finally {
      isLoading.current = false;
    }
  };

  const show = (current: string) => {
    if (running === undefined) return;
    setRunning({ ...running, current });
    const next = neighborOf(running.files, current, 1);
    // The files after the next one are loaded while it is shown.
    if (next === undefined || next === running.files.at(-1) || next === running.files[0]) extend(running).catch(ignore);
  };

  const end = () => {
    setRunning(undefined);
    if (running !== undefined) onEnd?.(running.current);
  };

  const slideshow: ReactNode = running !== undefined && (
    <Suspense fallback={null}>
      <Slideshow slides={running.files} current={running.current} onChange={show} onClose={end} />
    </Suspense>
  );
  return { start, slideshow };
}
