/** Small choices that a browser remembers (theme, language, view). Where it keeps nothing, the page works without. */

/** What was stored under `name`, if the browser has it. */
export function readStored(name: string): string | undefined {
  try {
    return window.localStorage.getItem(`larder-${name}`) ?? undefined;
  } catch {
    return undefined; // Storage is switched off.
  }
}

/** Remembers `value` under `name`; undefined forgets it. */
export function writeStored(name: string, value: string | undefined): void {
  try {
    if (value === undefined) window.localStorage.removeItem(`larder-${name}`);
    else window.localStorage.setItem(`larder-${name}`, value);
  } catch {
    return; // Storage is switched off or full: the choice holds until the page is closed.
  }
}
