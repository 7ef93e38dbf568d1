/** The size of the photos in the grid. The browser stores the choice. */
import { createStore, useStore } from "../../base/store.ts";
import { readStored, writeStored } from "../../base/stored.ts";

/** Sizes of photos in the grid. */
export const PHOTO_SIZES = ["small", "medium", "large"] as const;

/** One of {@link PHOTO_SIZES}. */
export type PhotoSize = (typeof PHOTO_SIZES)[number];

const STORED_AS = "photo-size";

const store = createStore<PhotoSize>(PHOTO_SIZES.find((size) => size === readStored(STORED_AS)) ?? "medium");

/** The size, and a function to change it. */
export function usePhotoSize(): [PhotoSize, (size: PhotoSize) => void] {
  return [useStore(store), change];
}

function change(size: PhotoSize): void {
  store.set(size);
  writeStored(STORED_AS, size);
}
