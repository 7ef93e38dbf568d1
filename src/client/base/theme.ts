/** The color theme: light, dark, or the device's setting. */
import { readStored, writeStored } from "./stored.ts";
import { createStore, useStore } from "./store.ts";

/** The available themes. */
export const THEMES = ["system", "light", "dark"] as const;

/** One of {@link THEMES}. */
export type Theme = (typeof THEMES)[number];

const store = createStore<Theme>("system");

/** Applies the stored theme, before anything is painted. */
export function applyStoredTheme(): void {
  const stored = readStored("theme");
  setTheme(THEMES.find((theme) => theme === stored) ?? "system");
}

/** Sets a theme and stores it on this device. */
export function setTheme(theme: Theme): void {
  store.set(theme);
  writeStored("theme", theme === "system" ? undefined : theme);
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

/** The current theme. */
export function useTheme(): Theme {
  return useStore(store);
}
