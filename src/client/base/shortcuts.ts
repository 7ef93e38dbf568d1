/** Keyboard shortcuts, registered so that the overlay of `?` can list those of the current page. */
import { useEffect, useRef } from "react";
import { createStore, useStore } from "./store.ts";
import { defineText } from "./text.ts";

/** One shortcut. */
interface Shortcut {
  /**
   * `mod` is Ctrl, or ⌘ on a Mac: `mod+k`, `shift+delete`, `/`, `?`, `arrowleft`, `f2`. Separate alternatives with a
   * space.
   */
  readonly keys: string;
  readonly label: string;
  readonly run: (event: KeyboardEvent) => void;
  /** If this returns false, the shortcut is skipped and the browser handles the key. */
  readonly when?: () => boolean;
  /** Also active while a dialog is open. Other shortcuts are not. */
  readonly inDialog?: boolean;
  /** Only listed; the component handles the key itself. */
  readonly listedOnly?: boolean;
}

/** Related shortcuts, as the overlay shows them. */
interface ShortcutGroup {
  readonly title: string;
  readonly shortcuts: readonly Shortcut[];
}

const groups = createStore<readonly ShortcutGroup[]>([]);
const IS_MAC = /mac|iphone|ipad/i.test(navigator.userAgent);
let isListening = false;

/** What is printed on the keys. */
const text = defineText("keys", {
  ctrl: "Ctrl",
  shift: "Shift",
  alt: "Alt",
  escape: "Esc",
  delete: "Del",
  backspace: "Backspace",
  space: "Space",
  enter: "Enter",
  home: "Home",
  end: "End",
});

/**
 * Registers shortcuts while the component is mounted. If two use the same key, the later one wins. Shortcuts without
 * `mod` are off while the person types in a field.
 */
export function useShortcuts(title: string, shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  useEffect(() => {
    latest.current = shortcuts;
  });
  const signature = shortcuts.map(({ keys, label }) => `${keys}\n${label}`).join("\n\n");
  useEffect(() => {
    listen();
    const group: ShortcutGroup = {
      title,
      get shortcuts() {
        return latest.current;
      },
    };
    groups.update((known) => [...known, group]);
    return () => groups.update((known) => known.filter((other) => other !== group));
  }, [title, signature]);
}

/** All registered shortcuts. Groups with the same title are merged. */
export function useShortcutGroups(): readonly ShortcutGroup[] {
  const merged = new Map<string, Shortcut[]>();
  for (const { title, shortcuts } of useStore(groups)) {
    if (shortcuts.length > 0) merged.set(title, [...(merged.get(title) ?? []), ...shortcuts]);
  }
  return [...merged].map(([title, shortcuts]) => ({ title, shortcuts }));
}

/** The names of a shortcut's keys on this device: `["Ctrl", "K"]`. */
export function keyCaps(keys: string): string[] {
  const names: Readonly<Record<string, string>> = {
    mod: IS_MAC ? "⌘" : text.ctrl,
    shift: IS_MAC ? "⇧" : text.shift,
    alt: IS_MAC ? "⌥" : text.alt,
    arrowleft: "←",
    arrowright: "→",
    arrowup: "↑",
    arrowdown: "↓",
    escape: text.escape,
    delete: text.delete,
    backspace: text.backspace,
    space: text.space,
    enter: text.enter,
    home: text.home,
    end: text.end,
  };
  return keys.split("+").map((key) => names[key] ?? (key.length === 1 ? key.toUpperCase() : capitalized(key)));
}

/** Whether `event` matches the shortcut `keys`. */
export function isPressed(event: KeyboardEvent, keys: string): boolean {
  return keys.split(" ").some((combination) => isCombination(event, combination));
}

function isCombination(event: KeyboardEvent, combination: string): boolean {
  const parts = combination.split("+");
  const key = parts.at(-1) === "" ? "+" : (parts.at(-1) ?? "");
  const pressed = event.key === " " ? "space" : event.key.toLowerCase();
  if (pressed !== key) return false;
  const hasMod = IS_MAC ? event.metaKey : event.ctrlKey;
  if (hasMod !== parts.includes("mod") || event.altKey !== parts.includes("alt")) return false;
  // Whether a symbol needs Shift depends on the keyboard layout: `?` matches however it is typed.
  const isSign = key.length === 1 && key.toLowerCase() === key.toUpperCase();
  return isSign || event.shiftKey === parts.includes("shift");
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  document.addEventListener("keydown", onKeyDown);
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const isTyping = isTextField(event.target);
  const hasDialog = document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null;
  const offered = groups.get().flatMap((group) => group.shortcuts);
  const shortcut = offered.findLast(
    (known) =>
      known.listedOnly !== true &&
      (!hasDialog || known.inDialog === true) &&
      isPressed(event, known.keys) &&
      (!isTyping || /mod\+|escape/.test(known.keys)) &&
      (known.when?.() ?? true),
  );
  if (shortcut === undefined) return;
  event.preventDefault();
  shortcut.run(event);
}

function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !/^(?:button|checkbox|radio|range|submit|reset|file)$/.test(target.type);
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
