/** How long a slideshow shows each photo; stored on the device. */
import { createStore, useStore } from "../../base/store.ts";
import { readStored, writeStored } from "../../base/stored.ts";

/** The choices, in seconds. */
export const SECONDS = [3, 5, 10, 30] as const;

const STORED_AS = "slideshow-seconds";

const store = createStore<number>(SECONDS.find((seconds) => String(seconds) === readStored(STORED_AS)) ?? 5);

/** The time per photo in seconds, and a function to change it. */
export function useSlideInterval(): [number, (seconds: number) => void] {
  return [useStore(store), change];
}

function change(seconds: number): void {
  store.set(seconds);
  writeStored(STORED_AS, String(seconds));
}
