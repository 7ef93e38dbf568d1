import { Maximize, Minus } from "lucide-react";
import { Plus } from "../../ui/icons.ts";
import { useEffect, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { NoPreview } from "./no-preview.tsx";
import { text } from "./text.ts";
import { useZoom } from "./use-zoom.ts";
import { layoutSize, type LoadedPicture, mayMove, useOriginal, useThumbnail } from "./pictures.ts";
import { fitOnStage, type Size } from "./zoom.ts";
import { Loading } from "./loading.tsx";

/**
 * An image that can be zoomed and panned. The thumbnail of the page is shown at once, then the large one, and the
 * original only when it is zoomed in further than the large one is sharp.
 */
export function ImageView({ file, onSwipe }: { readonly file: FileRecord; readonly onSwipe: (by: 1 | -1) => void }) {
  const thumbnail = useThumbnail(file);
  const [needsOriginal, setNeedsOriginal] = useState(() => mayMove(file));
  const original = useOriginal(file, needsOriginal || thumbnail === "none");
  const shown = pictureOf(original) ?? pictureOf(thumbnail);
  const layout = layoutSize(pictureOf(thumbnail) ?? pictureOf(original) ?? NOTHING);
  const zoom = useZoom(layout, onSwipe);
  const { view, stage, fit } = zoom;
  const size = layout.width === 0 ? layout : fitOnStage(layout, stage);
  const isBlurred = shown !== undefined && size.width * view.scale * window.devicePixelRatio > shown.width;
  useEffect(() => {
    if (isBlurred && view.scale > 1) setNeedsOriginal(true);
  }, [isBlurred, view.scale]);
  if (original === "none" && thumbnail === "none") return <NoPreview file={file} message={text.imageFailed} />;
  return (
    <div ref={zoom.stageRef} {...zoom.handlers} className="relative size-full touch-none overflow-hidden select-none">
      {shown === undefined ? (
        <Loading />
      ) : (
        <img
          src={shown.address}
          alt={file.name}
          draggable={false}
          // From the left in both writing directions, because images are never mirrored.
          className="absolute top-1/2 left-1/2 max-w-none"
          style={{
            width: size.width,
            height: size.height,
            transform: `translate(-50%, -50%) translate(${view.x}px, ${view.y}px) scale(${view.scale})`,
            cursor: view.scale > 1 ? "grab" : "zoom-in",
          }}
        />
      )}
      <div className="absolute inset-x-0 bottom-3 flex justify-center">
        <div className="flex items-center rounded-xl border border-line-strong bg-raised shadow-lg">
          <IconButton label={text.zoomOut} icon={Minus} onClick={() => zoom.by(1 / 1.5)} />
          <span className="w-14 text-center text-sm tabular-nums" aria-live="polite">
            {text.zoomed({ percent: Math.round(view.scale * 100) })}
          </span>
          <IconButton label={text.zoomIn} icon={Plus} onClick={() => zoom.by(1.5)} />
          <IconButton label={text.zoomReset} icon={Maximize} onClick={fit} />
        </div>
      </div>
    </div>
  );
}

const NOTHING: Size = { width: 0, height: 0 };

function pictureOf(picture: LoadedPicture | "none" | undefined): LoadedPicture | undefined {
  return picture === "none" ? undefined : picture;
}
