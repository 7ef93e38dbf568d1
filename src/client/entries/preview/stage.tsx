import { Suspense, useRef } from "react";
import type { FileRecord } from "../../api/types.ts";
import { lazyPart } from "../../ui/lazy-part.ts";
import { hasMotion } from "../live.ts";
import { ImageView } from "./image-view.tsx";
import type { PreviewedFile } from "../preview-source.ts";
import { previewKind } from "./kind.ts";
import { MediaView } from "./media-view.tsx";
import { NoPreview } from "./no-preview.tsx";
import { text } from "./text.ts";

const ArchiveView = lazyPart(() => import("../archives/archive-view.tsx").then((part) => part.ArchiveView));
const LiveLayer = lazyPart(() => import("./live-layer.tsx").then((part) => part.LiveLayer));
const PdfView = lazyPart(() => import("./pdf-view.tsx").then((part) => part.PdfView));
const TextView = lazyPart(() => import("./text-view.tsx").then((part) => part.TextView));

/** One file, shown by its kind. `onSwipe` reports a swipe to the next (1) or previous (-1) file. */
export function Stage({ file, onSwipe }: { readonly file: PreviewedFile; readonly onSwipe: (by: 1 | -1) => void }) {
  const kind = previewKind(file);
  switch (kind) {
    case "image":
      return <ImageStage file={file} onSwipe={onSwipe} />;
    case "video":
    case "audio":
      return <MediaView file={file} kind={kind} />;
    case "pdf":
      return <PdfView file={file} />;
    case "markdown":
    case "code":
    case "text":
      return <TextView file={file} kind={kind} />;
    case "archive":
      return <ArchiveView file={file} />;
    case "none":
      return file.hasThumbnail ? (
        <NoPreview file={file} message={text.firstPageOnly} hasPicture />
      ) : (
        <NoPreview file={file} message={text.noPreview} />
      );
  }
}

/** An image, and its video if it is a Live Photo. Whether it is one can become known while the image is shown. */
function ImageStage({ file, onSwipe }: { readonly file: FileRecord; readonly onSwipe: (by: 1 | -1) => void }) {
  const frame = useRef<HTMLDivElement>(null);
  return (
    <div ref={frame} className="relative size-full">
      <ImageView file={file} onSwipe={onSwipe} />
      <Suspense fallback={null}>{hasMotion(file) && <LiveLayer file={file} frame={frame} />}</Suspense>
    </div>
  );
}
