import { createElement, type ReactNode, use } from "react";
import { hasDocument, OfflineError } from "../api/http.ts";
import { pageVersion } from "../base/address.ts";
import { isPageReloading, reloadInPlaceOf } from "./reload.ts";

type Part<Props> = (props: Props) => ReactNode;

/** A component that is loaded when it is first shown; `preload` fetches it before, and never fails. */
export type LazyPart<Props> = Part<Props> & { preload: () => Promise<void> };

const RELOADED_KEY = "larder-reloaded-for";

/** Parts whose script did not come, by what makes them ask for it again. */
const failed = new Set<() => void>();

/**
 * A part of the page in a script of its own: `lazyPart(() => import("./big.tsx").then((m) => m.Big))`. To be shown below a
 * `Suspense`. Where the script is gone because the server has a new version, the page is loaded anew, once. Unlike React's
 * own `lazy`, one that failed can be asked for again: see {@link retryFailedParts}.
 */
export function lazyPart<Props extends object>(load: () => Promise<Part<Props>>): LazyPart<Props> {
  let loading: Promise<Part<Props>> | undefined;
  const forget = () => {
    loading = undefined;
  };
  const loadToShow = () => {
    loading ??= loadScript(load).catch((error: unknown) => {
      failed.add(forget);
      throw error;
    });
    return loading;
  };
  // What was only expected to be needed is no reason to load the page anew: it is asked for again when it is shown.
  const preload = () => {
    const early = load();
    return early.then(() => {
      loading ??= early;
    }, ignore);
  };
  const Lazy = (props: Props) => createElement(use(loadToShow()), props);
  return Object.assign(Lazy, { preload });
}

/** Makes parts that could not be loaded ask for their scripts again, when they are next shown. */
export function retryFailedParts(): void {
  for (const reset of failed) reset();
  failed.clear();
}

/**
 * Loads a script by a dynamic import, and the whole page anew if the server does not have that script any more.
 * @throws OfflineError; what the import was refused with, where a reload has not helped or was not wanted
 */
export async function loadScript<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    // Without the server there is nothing to load anew: the person would be left with the browser's own page.
    if (!(await hasDocument(window.location.href))) throw new OfflineError(error);
    if (isPageReloading()) return await Promise.withResolvers<never>().promise;
    if (!mayReload()) throw error;
    return await reloadInPlaceOf(error);
  }
}

/** Once per version and page: a script that is missing after that is missing for another reason. */
function mayReload(): boolean {
  try {
    const key = `${pageVersion()} ${window.location.pathname}`;
    if (window.sessionStorage.getItem(RELOADED_KEY) === key) return false;
    window.sessionStorage.setItem(RELOADED_KEY, key);
    return true;
  } catch {
    return false; // Nothing can be remembered: a reload might never end.
  }
}

/** What was only expected to be needed may be missing. */
function ignore(): void {
  return;
}
