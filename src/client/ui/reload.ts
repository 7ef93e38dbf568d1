// Loading the whole page anew, because the server has a version whose parts this one can't use.

let isReloading = false;

/**
 * Loads the page anew in place of what failed. Nothing goes on here then, but where the person is asked whether to leave
 * and stays.
 * @param error what is thrown to who stays
 */
export function reloadInPlaceOf(error: unknown): Promise<never> {
  return new Promise((_, reject) => {
    const onBeforeUnload = (event: Event) => {
      if (!event.defaultPrevented) return;
      isReloading = false;
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    // Comes after the listeners that ask; who leaves all the same does not see what becomes of the page.
    window.addEventListener("beforeunload", onBeforeUnload, { once: true });
    isReloading = true;
    window.location.reload();
  });
}

/** Whether the page is about to go: nothing that fails now needs to be told. */
export function isPageReloading(): boolean {
  return isReloading;
}

/**
 * Lets a reload that has begun go where the person goes now: browsers load the address at which it began, and lose that
 * step.
 * @param writeAddress has the browser know the new address
 */
export function followInReload(writeAddress: () => void): void {
  if (!isReloading) return;
  writeAddress();
  window.location.reload();
}
