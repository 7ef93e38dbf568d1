// Loading the whole page anew, because the server has a version whose parts this one can't use.

/** What of the router's history is asked: it writes addresses a moment after it tells of them. */
interface Navigation {
  readonly subscribe: (listener: () => void) => unknown;
  readonly flush: () => void;
}

let isReloading = false;

/**
 * Loads the page anew in place of what failed. Nothing goes on here then, but where the person is asked whether to leave
 * and stays.
 * @param error what is thrown to who stays
 */
export function reloadInPlaceOf(error: unknown): Promise<never> {
  return new Promise((_, reject) => {
    const stay = (event: Event) => {
      if (!event.defaultPrevented) return;
      isReloading = false;
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    // Comes after the listeners that ask; who leaves all the same does not see what becomes of the page.
    window.addEventListener("beforeunload", stay, { once: true });
    isReloading = true;
    window.location.reload();
  });
}

/** Whether the page is about to go: nothing that fails now needs to be told. */
export function isPageReloading(): boolean {
  return isReloading;
}

/** Lets a reload go where the person went since it began: browsers load the address at which it began, and lose that step. */
export function followInReload(navigation: Navigation): void {
  navigation.subscribe(() => {
    if (!isReloading) return;
    navigation.flush();
    window.location.reload();
  });
}
