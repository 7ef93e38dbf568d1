import type { KeyboardEvent, RefObject } from "react";
import { followLink } from "../../base/follow-link.ts";
import { isPressed, useShortcuts } from "../../base/shortcuts.ts";
import type { PreviewAction } from "./actions.ts";
import { text } from "./text.ts";

/**
 * The keys of the preview: arrow keys, Home and End go to other files, and each action has its own.
 * @returns the handler for the overlay
 */
export function usePreviewKeys(
  popup: RefObject<HTMLElement | null>,
  moves: { step(by: 1 | -1): void; first(): void; last(): void },
  actions: readonly PreviewAction[],
) {
  useListedShortcuts(actions);
  const runByKey: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => moves.step(isMirrored() ? 1 : -1),
    ArrowRight: () => moves.step(isMirrored() ? -1 : 1),
    Home: moves.first,
    End: moves.last,
  };
  return (event: KeyboardEvent): void => {
    const { target, key } = event;
    if (event.defaultPrevented || !(target instanceof HTMLElement)) return;
    if (!popup.current?.contains(target) || usesKey(target, key)) return;
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    const action = actions.find(({ keys }) => keys !== undefined && isPressed(event.nativeEvent, keys));
    const run = action === undefined ? (hasModifier ? undefined : runByKey[key]) : () => runAction(action);
    if (run === undefined) return;
    event.preventDefault();
    run();
  };
}

function runAction({ run, href, download, disabled }: PreviewAction): void {
  if (disabled === true) return;
  if (href === undefined) run?.();
  else followLink(href, typeof download === "string" ? download : "");
}

/** Controls and wide code that use arrow keys, Home and End keep them, and text fields keep all keys. */
function usesKey(target: HTMLElement, key: string): boolean {
  if (
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  ) {
    return true;
  }
  if (target.isContentEditable || target.closest('[role="tablist"], [role="menu"], aside') !== null)
    return key.length > 1;
  if (target instanceof HTMLPreElement && target.scrollWidth > target.clientWidth)
    return /^Arrow(Left|Right)$/.test(key);
  return target instanceof HTMLMediaElement && key.length > 1;
}

/** From right to left, the next file is to the left. */
function isMirrored(): boolean {
  return document.documentElement.dir === "rtl";
}

function useListedShortcuts(actions: readonly PreviewAction[]): void {
  const listed = { run: () => undefined, listedOnly: true } as const;
  useShortcuts(text.shortcuts, [
    { keys: "arrowleft", label: text.previous, ...listed },
    { keys: "arrowright", label: text.next, ...listed },
    { keys: "home", label: text.first, ...listed },
    { keys: "end", label: text.last, ...listed },
    { keys: "+", label: text.zoomIn, ...listed },
    { keys: "-", label: text.zoomOut, ...listed },
    { keys: "0", label: text.zoomReset, ...listed },
    ...actions.flatMap(({ keys, label }) => (keys === undefined ? [] : [{ keys, label, ...listed }])),
    { keys: "escape", label: text.close, ...listed },
  ]);
}
