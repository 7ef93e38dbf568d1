/** What a slideshow shows, and in which order. Pure. */

/** A file of a list. */
export interface SlideFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly hasThumbnail: boolean;
}

/** The photos and videos of a list. Photos without a thumbnail can't be shown. */
export function slidesOf<T extends SlideFile>(files: readonly T[]): T[] {
  return files.filter((file) => isVideo(file) || (file.mimeType.startsWith("image/") && file.hasThumbnail));
}

/** Whether a slide plays instead of being shown for some seconds. */
export function isVideo({ mimeType }: SlideFile): boolean {
  return mimeType.startsWith("video/");
}

/** The slide after (1) or before (-1) another. After the last one it begins again. Undefined if there is no other. */
export function neighborOf<T extends SlideFile>(slides: readonly T[], id: string, by: 1 | -1): T | undefined {
  const at = slides.findIndex((slide) => slide.id === id);
  const next = slides[(at + by + slides.length) % slides.length];
  return next?.id === id ? undefined : next;
}
