import type { PhotoRecord } from "./api.ts";
import { type Layout, sectionOf } from "./layout.ts";
import { dayOf, type PhotoLibrary } from "./use-photo-library.ts";
import { showError } from "../../ui/toast.tsx";

/** Finds photos by their index in the grid. */
export function photoFinder(library: PhotoLibrary, layout: Layout) {
  /** The photo at an index; undefined if it is not loaded. */
  const photoAt = (index: number): PhotoRecord | undefined => {
    const section = layout.sections[sectionOf(layout, index)];
    return section === undefined ? undefined : library.photos.get(section.date)?.[index - section.first];
  };

  /** The index of a photo; undefined if it is not loaded. */
  const indexOf = (photo: PhotoRecord): number | undefined => {
    const section = layout.sections.find(({ date }) => date === dayOf(photo));
    const at = library.photos.get(dayOf(photo))?.findIndex(({ id }) => id === photo.id) ?? -1;
    return section === undefined || at < 0 ? undefined : section.first + at;
  };

  /**
   * The photos of a range, loading those that are missing.
   * @throws ApiError, OfflineError
   */
  const load = async (one: number, other: number): Promise<PhotoRecord[]> => {
    const [from, to] = one < other ? [one, other] : [other, one];
    const sections = layout.sections.slice(sectionOf(layout, from), sectionOf(layout, to) + 1);
    const chunks = new Set(sections.flatMap(({ date }) => library.chunkOf(date) ?? []));
    const loaded = await Promise.all([...chunks].map((chunk) => library.load(chunk)));
    const byDay = Map.groupBy(loaded.flat(), dayOf);
    return sections.flatMap(({ date, first }) =>
      (byDay.get(date) ?? []).filter((_, at) => first + at >= from && first + at <= to),
    );
  };

  /** Calls `use` with the photos of a range once they are loaded, or shows why they can't be. */
  const withRange = (one: number, other: number, use: (photos: PhotoRecord[]) => void): void => {
    load(one, other).then(use, showError);
  };
  return { photoAt, indexOf, withRange };
}
