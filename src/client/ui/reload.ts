// Reloads the whole page, because the server has a new version that this page's scripts don't fit.

let isReloading = false;

/**
 * Reloads the page in place of a failed part. Never settles, unless the browser asks the person whether to leave and
 * they stay.
 * @param error what is thrown if the person stays
 */
export function reloadInstead(error: unknown): Promise<never> {
  return new Promise((_, reject) => {
    const onBeforeUnload = (event: Event) => {
      if (!event.defaultPrevented) return;
      isReloading = false;
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    // Runs after the listeners that ask the person. If they leave, the rejection is never seen.
    window.addEventListener("beforeunload", onBeforeUnload, { once: true });
    isReloading = true;
    window.location.reload();
  });
}

/** Whether the page is about to be reloaded. Failures need not be shown then. */
export function isPageReloading(): boolean {
  return isReloading;
}

/**
 * Lets a pending reload load the page that the person navigates to in the meantime. Browsers reload the address at
 * which the reload began, which would lose that navigation.
 * @param writeAddress updates the browser's address
 */
export function followInReload(writeAddress: () => void): void {
  if (!isReloading) return;
  writeAddress();
  window.location.reload();
}
