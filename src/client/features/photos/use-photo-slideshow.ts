import { useSlideshow } from "../../entries/slideshow/use-slideshow.tsx";
import { showError } from "../../ui/toast.tsx";
import type { PhotoRecord } from "./api.ts";
import { olderChunk } from "./layout.ts";
import { dayOf, type PhotoLibrary } from "./use-photo-library.ts";

/** Slideshows of the library, of a day, and of a selection. */
export function usePhotoSlideshow(library: PhotoLibrary) {
  const { start, slideshow } = useSlideshow<PhotoRecord>();

  /** The photos of the next older days, for a slideshow that has reached its last photo. */
  const loadMore = async (last: PhotoRecord): Promise<readonly PhotoRecord[]> => {
    const day = dayOf(last);
    const chunk = olderChunk(library.chunks, day);
    return chunk === undefined ? [] : (await library.load(chunk)).filter((photo) => dayOf(photo) < day);
  };

  /** Starts a slideshow of some photos of a chunk. @param from the first photo; if given, older chunks follow */
  const startAt = (day: string, fits: (photo: PhotoRecord) => boolean, from?: string) => {
    const chunk = library.chunkOf(day);
    if (chunk === undefined) return;
    const isWhole = from !== undefined;
    library.load(chunk).then((photos) => {
      start(photos.filter(fits), { from, ...(isWhole && { loadMore }) });
    }, showError);
  };
  return {
    start: {
      /** Shows a photo, then all older ones. */
      from: (photo: PhotoRecord) => startAt(dayOf(photo), () => true, photo.id),
      ofDay: (day: string) => startAt(day, (photo) => dayOf(photo) === day),
      /** Shows these photos, newest first. */
      of: (photos: readonly PhotoRecord[]) => start(photos.toSorted((a, b) => (a.takenAt < b.takenAt ? 1 : -1))),
    },
    slideshow,
  };
}
