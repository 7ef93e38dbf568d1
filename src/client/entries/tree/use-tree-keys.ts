import { type KeyboardEvent, useRef } from "react";
import { findTyped, TYPE_AHEAD_MS } from "../collection/cursor.ts";
import { parentOf } from "../folder-address.ts";
import type { TreeRow } from "./rows.ts";

/** Options of {@link useTreeKeys}. */
interface TreeKeysOptions {
  readonly rows: readonly TreeRow[];
  /** The path of the folder with the focus. */
  readonly active: string;
  goTo(path: string): void;
  toggle(path: string, isOpen: boolean): void;
  choose(path: string): void;
}

/** The keys of the tree (ARIA tree pattern): arrows, Home, End, Enter, Space, and typed names. */
export function useTreeKeys({ rows, active, goTo, toggle, choose }: TreeKeysOptions) {
  const typed = useRef({ text: "", atMs: 0 });
  const folders = rows.filter((row) => row.kind === "folder");
  const at = folders.findIndex(({ path }) => path === active);
  const current = folders[at];
  const goToIndex = (index: number) => {
    const folder = folders[index];
    if (folder !== undefined) goTo(folder.path);
  };
  const typeAhead = (key: string) => {
    const now = Date.now();
    const text = (now - typed.current.atMs > TYPE_AHEAD_MS ? "" : typed.current.text) + key;
    typed.current = { text, atMs: now };
    const found = findTyped(text, at, new Map(folders.map(({ name }, index) => [index, name])));
    if (found !== undefined) goToIndex(found);
  };
  const inward = () => {
    if (current === undefined) return;
    if (!current.isOpen) toggle(current.path, true);
    else if ((folders[at + 1]?.level ?? 0) > current.level) goToIndex(at + 1);
  };
  const outward = () => {
    if (current === undefined) return;
    if (current.isOpen) toggle(current.path, false);
    else goToIndex(folders.findIndex(({ path }) => path === parentOf(current.path)));
  };
  return (event: KeyboardEvent<HTMLElement>) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || (event.target instanceof Element && event.target.closest("button") !== null))
      return;
    const isRightToLeft = getComputedStyle(event.currentTarget).direction === "rtl";
    const actions: Readonly<Record<string, () => void>> = {
      ArrowDown: () => goToIndex(at + 1),
      ArrowUp: () => goToIndex(at - 1),
      Home: () => goToIndex(0),
      End: () => goToIndex(folders.length - 1),
      ArrowRight: isRightToLeft ? outward : inward,
      ArrowLeft: isRightToLeft ? inward : outward,
      Enter: () => choose(active),
      " ": () => choose(active),
    };
    const action = actions[key] ?? (key.length === 1 ? () => typeAhead(key) : undefined);
    if (action === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };
}
