/** Light, dark, or as the device has it. */
import { readStored, writeStored } from "./stored.ts";
import { createStore, useStore } from "./store.ts";

/** The choices of a theme. */
export const THEMES = ["system", "light", "dark"] as const;

/** One of {@link THEMES}. */
export type Theme = (typeof THEMES)[number];

const store = createStore<Theme>("system");

/** Puts the remembered theme into force, before anything is painted. */
export function applyStoredTheme(): void {
  const stored = readStored("theme");
  setTheme(THEMES.find((theme) => theme === stored) ?? "system");
}

/** Chooses a theme and remembers it on this device. */
export function setTheme(theme: Theme): void {
  store.set(theme);
  writeStored("theme", theme === "system" ? undefined : theme);
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

/** The theme that was chosen. */
export function useTheme(): Theme {
  return useStore(store);
}
