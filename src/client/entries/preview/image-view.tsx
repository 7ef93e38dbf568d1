import { Maximize, Minus } from "lucide-react";
import { Plus } from "../../ui/icons.ts";
import { useEffect, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { contentAddress, largeAddress } from "./addresses.ts";
import { isShownByBrowsers } from "./kind.ts";
import { NoPreview } from "./no-preview.tsx";
import { text } from "./text.ts";
import { useZoom } from "./use-zoom.ts";
import { fitOnStage } from "./zoom.ts";
import { Loading } from "./loading.tsx";

/** Larger originals are not loaded; the large thumbnail is shown instead. */
const ORIGINAL_BYTES_MAX = 60 * 1024 * 1024;
/** How often to request a thumbnail that the server may still be rendering; each wait is one second longer. */
const THUMBNAIL_TRIES = 5;

/** An image that can be zoomed and panned: first the thumbnail, then the original. */
export function ImageView({ file, onSwipe }: { readonly file: FileRecord; readonly onSwipe: (by: 1 | -1) => void }) {
  const loaded = useBestPicture(file);
  const picture = loaded === "failed" || loaded === undefined ? { width: 0, height: 0 } : loaded;
  const zoom = useZoom(picture, onSwipe);
  if (loaded === "failed") return <NoPreview file={file} message={text.imageFailed} />;
  const { view, stage, fit } = zoom;
  const size = fitOnStage(picture.width === 0 ? { width: 1, height: 1 } : picture, stage);
  return (
    <div ref={zoom.stageRef} {...zoom.handlers} className="relative size-full touch-none overflow-hidden select-none">
      {loaded === undefined ? (
        <Loading />
      ) : (
        <img
          src={loaded.address}
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
            {text.zoomed(Math.round(view.scale * 100))}
          </span>
          <IconButton label={text.zoomIn} icon={Plus} onClick={() => zoom.by(1.5)} />
          <IconButton label={text.zoomReset} icon={Maximize} onClick={fit} />
        </div>
      </div>
    </div>
  );
}

interface LoadedPicture {
  readonly address: string;
  readonly width: number;
  readonly height: number;
}

/** The best version of the image that is loaded. */
function useBestPicture(file: FileRecord): LoadedPicture | "failed" | undefined {
  const [picture, setPicture] = useState<LoadedPicture | "failed">();
  useEffect(() => {
    let isOver = false;
    const wantsOriginal = isShownByBrowsers(file.mimeType) && file.size <= ORIGINAL_BYTES_MAX;
    const show = async (): Promise<void> => {
      const large = file.hasThumbnail ? await loadThumbnail(file, () => isOver) : undefined;
      if (isOver) return;
      if (large !== undefined) setPicture(large);
      const original = wantsOriginal ? await load(contentAddress(file)) : undefined;
      if (isOver) return;
      if (original !== undefined) setPicture(original);
      else if (large === undefined) setPicture("failed");
    };
    void show();
    return () => {
      isOver = true;
    };
  }, [file]);
  return picture;
}

async function loadThumbnail(file: FileRecord, isOver: () => boolean): Promise<LoadedPicture | undefined> {
  for (let attempt = 0; attempt < THUMBNAIL_TRIES && !isOver(); attempt += 1) {
    const address = largeAddress(file);
    const loaded = await load(attempt === 0 ? address : `${address}&attempt=${attempt}`);
    if (loaded !== undefined) return loaded;
    await new Promise((resolve) => setTimeout(resolve, 1000 * (attempt + 1)));
  }
  return undefined;
}

async function load(address: string): Promise<LoadedPicture | undefined> {
  const image = new Image();
  image.src = address;
  try {
    await image.decode();
  } catch {
    return undefined;
  }
  // Vector images without a size of their own fill the stage.
  return { address, width: image.naturalWidth || 1600, height: image.naturalHeight || 1200 };
}
