/** The versions of an image: the thumbnail that the page shows already, the large thumbnail, and the original. */
import { useEffect, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { contentAddress, largeAddress } from "./addresses.ts";
import { isShownByBrowsers } from "./kind.ts";
import type { Size } from "./zoom.ts";

/** Larger originals are not loaded; the large thumbnail is shown instead. */
const ORIGINAL_BYTES_MAX = 60 * 1024 * 1024;
/** How often to request a thumbnail that the server may still be rendering; each wait is one second longer. */
const THUMBNAIL_TRIES = 5;
/** The longest sides of thumbnails. If one is that long, the original is probably larger. */
const THUMBNAIL_SIDES = new Set([128, 512, 1600]);
/** A size that fills every screen. */
const LARGER = 8;
/** Types that may be animated. Thumbnails are not. */
const MOVING_TYPES = new Set(["image/gif", "image/webp", "image/avif"]);

/** A loaded image. */
export interface LoadedPicture extends Size {
  readonly address: string;
}

/** The best thumbnail so far; "none" if there is none. */
export function useThumbnail(file: FileRecord): LoadedPicture | "none" | undefined {
  const address = file.hasThumbnail ? largeAddress(file) : undefined;
  const [picture, setPicture] = useState<LoadedPicture | "none" | undefined>(() => findOnPage(file.id));
  useEffect(() => {
    if (address === undefined) return undefined;
    let isOver = false;
    void loadThumbnail(address, () => isOver).then((large) => {
      if (!isOver) setPicture((before) => large ?? before ?? "none");
    });
    return () => {
      isOver = true;
    };
  }, [address]);
  return address === undefined ? "none" : picture;
}

/** The original, once it is needed; "none" if it can't be shown. */
export function useOriginal(file: FileRecord, isNeeded: boolean): LoadedPicture | "none" | undefined {
  const canShow = isShownByBrowsers(file.mimeType) && file.size <= ORIGINAL_BYTES_MAX;
  const address = isNeeded && canShow ? contentAddress(file) : undefined;
  const [picture, setPicture] = useState<LoadedPicture | "none">();
  useEffect(() => {
    if (address === undefined) return undefined;
    let isOver = false;
    void load(address).then((original) => {
      if (!isOver) setPicture(original ?? "none");
    });
    return () => {
      isOver = true;
    };
  }, [address]);
  return canShow ? picture : "none";
}

/** Whether only the original shows the image as it is, because it may be animated. */
export function mayMove(file: FileRecord): boolean {
  return MOVING_TYPES.has(file.mimeType);
}

/** The size to lay an image out in: a thumbnail that was scaled down stands for a larger original. */
export function layoutSize({ width, height }: Size): Size {
  const factor = THUMBNAIL_SIDES.has(Math.max(width, height)) ? LARGER : 1;
  return { width: width * factor, height: height * factor };
}

/** The largest thumbnail of a file that the page behind the preview shows. It is in memory, so it appears at once. */
function findOnPage(id: string): LoadedPicture | undefined {
  const images = [...document.querySelectorAll<HTMLImageElement>(`img[src*="/api/files/${CSS.escape(id)}/"]`)];
  const [largest] = images
    .filter((image) => image.complete && image.naturalWidth > 0)
    .sort((one, other) => other.naturalWidth - one.naturalWidth);
  if (largest === undefined) return undefined;
  return { address: largest.currentSrc, width: largest.naturalWidth, height: largest.naturalHeight };
}

async function loadThumbnail(address: string, isOver: () => boolean): Promise<LoadedPicture | undefined> {
  for (let attempt = 0; attempt < THUMBNAIL_TRIES && !isOver(); attempt += 1) {
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
