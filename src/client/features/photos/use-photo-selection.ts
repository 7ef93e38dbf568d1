import { useCallback, useState } from "react";
import { announce } from "../../base/announce.ts";
import type { PhotoRecord } from "./api.ts";
import { uiText } from "../../ui/text.ts";
import { text } from "./text.ts";

/** The selected photos by id. */
export type SelectedPhotos = ReadonlyMap<string, PhotoRecord>;

const NONE: SelectedPhotos = new Map<string, PhotoRecord>();

/** The selection, and functions to change it. */
export function usePhotoSelection() {
  const [selected, setSelected] = useState(NONE);
  const change = useCallback((next: (before: SelectedPhotos) => SelectedPhotos) => {
    setSelected((before) => {
      const after = next(before);
      if (after.size !== before.size) announce(after.size === 0 ? text.nothing : uiText.selected({ n: after.size }));
      return after;
    });
  }, []);
  const toggle = useCallback(
    (photo: PhotoRecord) =>
      change((before) => {
        const after = new Map(before);
        if (!after.delete(photo.id)) after.set(photo.id, photo);
        return after;
      }),
    [change],
  );
  /** Adds all these photos to the selection. If all were selected, it removes them. */
  const toggleAll = useCallback(
    (photos: readonly PhotoRecord[]) =>
      change((before) => {
        const after = new Map(before);
        const areIn = photos.every(({ id }) => before.has(id));
        for (const photo of photos) if (!areIn) after.set(photo.id, photo);
        for (const { id } of photos) if (areIn) after.delete(id);
        return after;
      }),
    [change],
  );
  const add = useCallback(
    (photos: readonly PhotoRecord[]) =>
      change((before) => new Map([...before, ...photos.map((photo) => [photo.id, photo] as const)])),
    [change],
  );
  const clear = useCallback(() => change(() => NONE), [change]);
  return { selected, toggle, toggleAll, add, clear };
}
