import type { PhotoRecord } from "./api.ts";
import { dayOfPhoto, startOfDay } from "../../entries/justified/positions.ts";
import type { Layout } from "../../entries/justified/types.ts";
import { dayOf, type PhotoLibrary } from "./use-photo-library.ts";
import { showError } from "../../ui/toast.tsx";

/** Finds photos by their index in the grid. */
export function photoFinder(library: PhotoLibrary, layout: Layout) {
  /** The photo at an index; undefined if it is not loaded. */
  const photoAt = (index: number): PhotoRecord | undefined => {
    const found = dayOfPhoto(layout, index);
    return found === undefined ? undefined : library.photos.get(found.day.date)?.[found.at];
  };

  /** The index of a photo; undefined if it is not loaded. */
  const indexOf = (photo: PhotoRecord): number | undefined => {
    const at = library.photos.get(dayOf(photo))?.findIndex(({ id }) => id === photo.id) ?? -1;
    return at < 0 ? undefined : startOfDay(layout, dayOf(photo)) + at;
  };

  /**
   * The photos of a range, loading those that are missing.
   * @throws ApiError, OfflineError
   */
  const load = async (one: number, other: number): Promise<PhotoRecord[]> => {
    const [from, to] = one < other ? [one, other] : [other, one];
    const days: { readonly date: string; readonly start: number }[] = [];
    for (let index = from; index <= to; ) {
      const found = dayOfPhoto(layout, index);
      if (found === undefined) break;
      days.push({ date: found.day.date, start: found.start });
      index = found.start + found.day.count;
    }
    const chunks = new Set(days.flatMap(({ date }) => library.chunkOf(date) ?? []));
    const loaded = await Promise.all([...chunks].map((chunk) => library.load(chunk)));
    const byDay = Map.groupBy(loaded.flat(), dayOf);
    return days.flatMap(({ date, start }) =>
      (byDay.get(date) ?? []).filter((_, at) => start + at >= from && start + at <= to),
    );
  };

  /** Calls `use` with the photos of a range once they are loaded. If loading fails, it shows the error instead. */
  const withRange = (one: number, other: number, use: (photos: PhotoRecord[]) => void): void => {
    load(one, other).then(use, showError);
  };
  return { photoAt, indexOf, withRange };
}
