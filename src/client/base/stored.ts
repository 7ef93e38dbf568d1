/** Small preferences in local storage (theme, language, view). If storage is off, the page works without them. */

/** The stored value of `name`, if there is one. */
export function readStored(name: string): string | undefined {
  try {
    return window.localStorage.getItem(`larder-${name}`) ?? undefined;
  } catch {
    return undefined; // Storage is switched off.
  }
}

/** Stores `value` under `name`; undefined removes it. */
export function writeStored(name: string, value: string | undefined): void {
  try {
    if (value === undefined) window.localStorage.removeItem(`larder-${name}`);
    else window.localStorage.setItem(`larder-${name}`, value);
  } catch {
    return; // Storage is off or full. The choice lasts until the page is closed.
  }
}
