import { createElement, type ReactNode, use } from "react";
import { hasDocument, OfflineError } from "../api/http.ts";
import { pageVersion } from "../base/address.ts";
import { isPageReloading, reloadInstead } from "./reload.ts";
import { ignore } from "../base/ignore.ts";

type Part<Props> = (props: Props) => ReactNode;

/** A component that is loaded when it is first shown. `preload` fetches it earlier, and never fails. */
type LazyPart<Props> = Part<Props> & { preload: () => Promise<void> };

const RELOADED_KEY = "larder-reloaded-for";

/** Functions that let failed parts load again. */
const failed = new Set<() => void>();

/**
 * A component in a separate script: `lazyPart(() => import("./big.tsx").then((m) => m.Big))`. Render it below a
 * `Suspense`. If the script is gone because the server has a new version, the page is reloaded once. Unlike React's
 * `lazy`, a failed part can be loaded again: see {@link retryFailedParts}.
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
  // A failed preload must not reload the page: the part is loaded again when it is shown.
  const preload = () => {
    const early = load();
    return early.then(() => {
      loading ??= early;
    }, ignore);
  };
  const Lazy = (props: Props) => createElement(use(loadToShow()), props);
  return Object.assign(Lazy, { preload });
}

/** Lets parts that could not be loaded try again when they are next shown. */
export function retryFailedParts(): void {
  for (const reset of failed) reset();
  failed.clear();
}

/**
 * Runs a dynamic import. If the server no longer has the script, reloads the whole page.
 * @throws OfflineError; or the error of the import, if a reload has not helped or the person canceled it
 */
export async function loadScript<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    // Without the server, a reload would only show the browser's own error page.
    if (!(await hasDocument(window.location.href))) throw new OfflineError(error);
    if (isPageReloading()) return await Promise.withResolvers<never>().promise;
    if (!mayReload()) throw error;
    return await reloadInstead(error);
  }
}

/** Reloads once per version and page. A script that is still missing afterwards is missing for another reason. */
function mayReload(): boolean {
  try {
    const key = `${pageVersion()} ${window.location.pathname}`;
    if (window.sessionStorage.getItem(RELOADED_KEY) === key) return false;
    window.sessionStorage.setItem(RELOADED_KEY, key);
    return true;
  } catch {
    return false; // Storage is off. Without it the page might reload forever.
  }
}
