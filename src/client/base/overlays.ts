/**
 * Overlays in the history of the browser, so that Back closes them. The preview, details, drawer, and the dialogs of one
 * file are query parameters of the address: a reload keeps them, and a link opens them. Other dialogs have only a
 * history entry. Each entry notes in its state which overlays are open at it, the top one last.
 */
import { useRouter } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { type TextSearch, useTextSearch } from "./search-params.ts";

declare module "@tanstack/react-router" {
  interface HistoryState {
    overlays?: readonly string[];
    /** The key of the entry that the overlays were opened from. */
    pageKey?: string;
  }
}

/** The query parameters of overlays. */
export type OverlayName = "view" | "details" | "menu" | "dialog";

/** An overlay whose state is in the address. */
export interface Overlay {
  /** The parameter in the address; undefined while the overlay is closed. */
  readonly value: string | undefined;
  /** Opens the overlay in a new history entry. `more` are further parameters of it. */
  open(value: string, more?: TextSearch): void;
  /** Changes the parameter in the same entry. */
  replace(value: string): void;
  /** Goes back if the overlay was opened here. If a link opened it, removes it from the address. */
  close(): void;
}

type Router = ReturnType<typeof useRouter>;

/** Parameters that go with another one. */
const COMPANIONS: Partial<Record<OverlayName, TextSearch>> = { dialog: { item: undefined } };
/** Distinguishes dialogs without an address from overlays with one. */
const DIALOG_PREFIX = "#";
/** How long to wait for the browser to go back: it says nothing if there is nowhere to go. */
const BACK_MS_MAX = 1_000;
/** How long after a step the address follows. */
const STEP_MS = 300;

/** Steps that are not in the address yet. They must be before an overlay opens on top. */
const unwrittenSteps = new Set<() => void>();
/** Ids of the dialogs without an address that are open. */
const openDialogs = new Set<string>();
let lastId = 0;
/** Pending while the browser goes back. An entry that is added before it arrives would be the one that it leaves. */
let leaving: Promise<void> | undefined;
let isOpeningDocument = false;

/** An overlay of the page, by its query parameter. */
export function useOverlay(name: OverlayName): Overlay {
  const value = useTextSearch()[name];
  const router = useRouter();
  return useMemo(
    () => ({
      value,
      open: (to, more = {}) => void push(router, name, { ...COMPANIONS[name], ...more, [name]: to }),
      replace: (to) => replaceSearch(router, { [name]: to }),
      close: () => {
        if (topOverlay(router) === name) void goBack(router);
        else replaceSearch(router, { [name]: undefined, ...COMPANIONS[name] });
      },
    }),
    [value, router, name],
  );
}

/**
 * The value of an overlay that changes often, such as the file in the preview. The address follows after a moment,
 * because browsers limit how often it may change.
 */
export function useSteppedOverlay(name: OverlayName): Overlay {
  const overlay = useOverlay(name);
  const { value, replace } = overlay;
  const router = useRouter();
  // Valid for these values of the address. Its change to another one is not ours, for example by Back.
  const [step, setStep] = useState<{ readonly from: readonly string[]; readonly to: string }>();
  const isStepOf = (from: readonly string[] | undefined) => value !== undefined && from?.includes(value) === true;
  const current = isStepOf(step?.from) ? step?.to : value;
  const latest = useRef(value);
  const written = useRef<string>(undefined);
  useEffect(() => {
    latest.current = value;
    setStep((former) => (isStepOf(former?.from) && former?.to !== value ? former : undefined));
    // oxlint-disable-next-line react/exhaustive-deps -- the function depends only on the value
  }, [value]);
  useEffect(() => {
    if (current === undefined || current === value) return undefined;
    const write = () => {
      stop();
      // The entry of an overlay on top is left when it closes. The step belongs into the one below.
      const top = topOverlay(router);
      if (leaving !== undefined || (top !== undefined && top !== name)) return start();
      // On a slow machine, the browser has left the overlay before the page shows it. It must not come back.
      if (!new URLSearchParams(router.history.location.search).has(name)) return;
      written.current = current;
      replace(current);
    };
    let timer: ReturnType<typeof setTimeout>;
    const start = () => {
      timer = setTimeout(write, STEP_MS);
      unwrittenSteps.add(write);
    };
    const stop = () => {
      clearTimeout(timer);
      unwrittenSteps.delete(write);
    };
    start();
    return stop;
  }, [current, value, replace, router, name]);
  return {
    ...overlay,
    value: current,
    replace: (to) => {
      // A file that was loaded first may arrive while the address follows an earlier step, or later.
      const { current: at } = latest;
      if (at !== undefined) setStep({ from: [at, written.current ?? at], to });
    },
  };
}

/** Gives a dialog without an address a history entry while it is open, so that Back calls `onClose`. */
export function useDialogEntry(isOpen: boolean, onClose: () => void): void {
  const router = useRouter();
  const latest = useRef(onClose);
  useEffect(() => {
    latest.current = onClose;
  });
  useEffect(() => {
    if (!isOpen) return undefined;
    lastId += 1;
    const id = `${DIALOG_PREFIX}${lastId}-${performance.now()}`;
    openDialogs.add(id);
    // A dialog that takes the place of another gets its entry only after the browser has left that of the other one.
    let hasEntry = false;
    void push(router, id, {}).then(() => {
      hasEntry = true;
    });
    const unsubscribe = onMove(router, () => {
      if (hasEntry && router.history.location.state.overlays?.includes(id) !== true) latest.current();
    });
    return () => {
      unsubscribe();
      openDialogs.delete(id);
      if (topOverlay(router) === id) void goBack(router);
    };
  }, [isOpen, router]);
}

/**
 * Leaves entries of dialogs that are no longer open: after a reload, and when the person goes forward or back to one.
 * Used once, in the page. Not before the page is mounted: the router would no longer follow redirects.
 */
export function useClosedDialogEntries(): void {
  const router = useRouter();
  useEffect(() => {
    const leave = async () => {
      await leaving;
      const top = topOverlay(router);
      if (top?.startsWith(DIALOG_PREFIX) === true && !openDialogs.has(top)) await goBack(router);
    };
    void leave();
    return onMove(router, () => void leave());
  }, [router]);
}

/** Leaves the application for another document. Going back at the same time, for a dialog that closes, would stop it. */
export async function openDocument(address: string): Promise<void> {
  await leaving;
  isOpeningDocument = true;
  window.location.assign(address);
}

/** The key of a page's history entry; overlays on it have the same one. */
export function pageKeyOf({
  state,
  href,
}: {
  readonly state: { readonly pageKey?: string; readonly __TSR_key?: string };
  readonly href: string;
}): string {
  return state.pageKey ?? state.__TSR_key ?? href;
}

/** Calls `listener` after the person or the page went back or forward. */
function onMove({ history }: Pick<Router, "history">, listener: () => void): () => void {
  return history.subscribe(({ action }: { readonly action: { readonly type: string } }) => {
    if (action.type !== "PUSH" && action.type !== "REPLACE") listener();
  });
}

function topOverlay({ history }: Pick<Router, "history">): string | undefined {
  return history.location.state.overlays?.at(-1);
}

async function push(router: Router, overlay: string, change: TextSearch): Promise<void> {
  await leaving;
  // It was closed while the browser went back.
  if (overlay.startsWith(DIALOG_PREFIX) && !openDialogs.has(overlay)) return;
  // A copy: a step that must wait longer adds itself to the set again.
  const steps = [...unwrittenSteps];
  for (const flush of steps) flush();
  // Both in one task would become a single entry.
  router.history.flush();
  const { state, href } = router.history.location;
  void router.navigate({
    to: ".",
    search: (former: TextSearch) => ({ ...former, ...change }),
    state: { overlays: [...(state.overlays ?? []), overlay], pageKey: pageKeyOf({ state, href }) },
    resetScroll: false,
  });
}

function replaceSearch(router: Router, change: TextSearch): void {
  void router.navigate({
    to: ".",
    search: (former: TextSearch) => ({ ...former, ...change }),
    state: true,
    replace: true,
    resetScroll: false,
  });
}

/** Goes back one entry. A second call while the browser does so is ignored: the button was pressed twice. */
function goBack({ history }: Pick<Router, "history">): Promise<void> {
  if (leaving !== undefined) return leaving;
  if (isOpeningDocument) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, BACK_MS_MAX);
  const unsubscribe = onMove({ history }, resolve);
  leaving = promise.then(() => {
    clearTimeout(timer);
    unsubscribe();
    leaving = undefined;
  });
  history.back();
  return leaving;
}
