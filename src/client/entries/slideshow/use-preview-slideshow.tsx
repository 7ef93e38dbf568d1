import { Play } from "lucide-react";
import { type ReactNode, Suspense, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { lazyPart } from "../../ui/lazy-part.ts";
import type { PreviewAction } from "../preview/actions.ts";
import { slidesOf } from "./slides.ts";
import { text } from "./text.ts";

const Slideshow = lazyPart(() => import("./slideshow.tsx").then((part) => part.Slideshow));

/**
 * A slideshow over the preview, which follows it: it loads further files, and shows the last one at the end.
 * @param items the files of the preview
 * @param onShow called with the index of the file to show
 */
export function usePreviewSlideshow(
  items: readonly FileRecord[],
  file: FileRecord | undefined,
  onShow: (index: number) => void,
): { readonly actions: readonly PreviewAction[]; readonly slideshow: ReactNode } {
  const [isRunning, setRunning] = useState(false);
  const canShow = file !== undefined && slidesOf([file]).length > 0;
  return {
    actions: canShow
      ? [{ label: text.start, icon: Play, keys: "p", shownIn: "wide", run: () => setRunning(true) }]
      : [],
    slideshow: isRunning && file !== undefined && (
      <Suspense fallback={null}>
        <Slideshow
          slides={slidesOf(items)}
          current={file.id}
          onChange={(id) => onShow(items.findIndex((item) => item.id === id))}
          onClose={() => setRunning(false)}
        />
      </Suspense>
    ),
  };
}
