import { useCallback, useState } from "react";
import { announce } from "../../base/announce.ts";
import type { PhotoRecord } from "./api.ts";
import { text } from "./text.ts";

/** Which photos are selected, by id. */
export type Selected = ReadonlyMap<string, PhotoRecord>;

const NONE: Selected = new Map<string, PhotoRecord>();

/** What is selected, and what changes it. */
export function usePhotoSelection() {
  const [selected, setSelected] = useState(NONE);
  const change = useCallback((next: (before: Selected) => Selected) => {
    setSelected((before) => {
      const after = next(before);
      if (after.size !== before.size) announce(after.size === 0 ? text.nothing : text.selected(after.size));
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
  /** Takes all in; leaves all out where they all were in. */
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
