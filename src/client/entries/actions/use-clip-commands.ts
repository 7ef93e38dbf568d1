import { useEffect, useMemo, useRef } from "react";
import { useCanWrite } from "../../api/session.ts";
import type { Entry } from "../../api/types.ts";
import { announce } from "../../base/announce.ts";
import { ignore } from "../../base/ignore.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { showError, toast } from "../../ui/toast.tsx";
import { type Clip, setClipboard, useClipboard } from "../clipboard.ts";
import { canAddTo, canMove, type EntryRights } from "../rights.ts";
import { text } from "../text.ts";
import { canMoveInto, type Destination } from "./bulk.ts";
import { type EntryActions, useEntryActions } from "./use-entry-actions.ts";

/** Copies or cuts the selected entries. Undefined if the person may not do it. */
export interface ClipCommands {
  readonly copyItems: (() => void) | undefined;
  readonly cutItems: (() => void) | undefined;
}

/** Options of {@link useClipCommands}. */
interface ClipOptions {
  /** Runs an action on all selected entries. */
  readonly withSelected: (action: (entries: readonly Entry[]) => unknown) => void;
  readonly rights: EntryRights;
  /** The selected entries as far as they are loaded. */
  readonly known: readonly Entry[];
  readonly count: number;
}

/** Copies and cuts the selected entries of a list, by its menu and the keys of the system. */
export function useClipCommands({ withSelected, rights, known, count }: ClipOptions): ClipCommands {
  const canWrite = useCanWrite();
  const canCopy = canWrite && rights.isFileOrFolder;
  const canCut = canWrite && canMove(rights);
  const put = (verb: Clip["verb"]) => () =>
    withSelected((entries) => {
      setClipboard({ verb, entries, share: rights.share });
      // Replaces an image or file on the clipboard of the system, which pasting would upload otherwise.
      void navigator.clipboard?.writeText(namesOf(entries)).catch(ignore);
      const done = verb === "copy" ? text.clipCopied({ n: entries.length }) : text.clipCut({ n: entries.length });
      if (window.matchMedia("(pointer: coarse)").matches) toast({ text: done, id: "clipboard" });
      else announce(done);
    });
  const commands = { copyItems: canCopy ? put("copy") : undefined, cutItems: canCut ? put("cut") : undefined };
  useClipboardEvents(count > 0 ? { copy: commands.copyItems, cut: commands.cutItems } : {}, () => namesOf(known));
  useShortcuts(text.shortcuts, [
    ...(canCopy ? [{ keys: "mod+c", label: text.copyItems, run: ignore, listedOnly: true }] : []),
    ...(canCut ? [{ keys: "mod+x", label: text.cutItems, run: ignore, listedOnly: true }] : []),
  ]);
  return commands;
}

/**
 * Pastes into a folder by its menu and the keys of the system.
 * @param target undefined where the person may not add anything
 * @returns a function that pastes; undefined if nothing was copied or cut
 */
export function usePaste(target: Destination | undefined): (() => void) | undefined {
  const clip = useClipboard();
  const actions = useEntryActions();
  const isCut = clip?.verb === "cut";
  const folder = target?.folder;
  const share = target?.share;
  const run = useMemo(() => {
    if (folder === undefined || clip === undefined) return undefined;
    return () => void paste(actions, clip, { folder, share }).catch(showError);
  }, [actions, clip, folder, share]);
  useClipboardEvents({ paste: run });
  useShortcuts(text.shortcuts, [
    ...(target === undefined ? [] : [{ keys: "mod+v", label: text.paste, run: ignore, listedOnly: true }]),
    ...(isCut ? [{ keys: "escape", label: text.cancelCut, run: () => setClipboard(undefined) }] : []),
  ]);
  return run;
}

/**
 * Pastes into a folder of a list.
 * @param entry the only selected entry
 * @returns a function that pastes; undefined if nothing was copied or cut, and where the person may not add anything
 */
export function usePasteInto(entry: Entry | undefined, rights: EntryRights): (() => void) | undefined {
  const clip = useClipboard();
  const actions = useEntryActions();
  const canWrite = useCanWrite();
  if (clip === undefined || entry?.type !== "folder" || !canWrite || !canAddTo(rights)) return undefined;
  return () => void paste(actions, clip, { folder: entry.path, share: rights.share }).catch(showError);
}

/** Copies what was copied, and moves what was cut: a file stays with its owner, so elsewhere it is copied too. */
export async function paste(actions: EntryActions, clip: Clip, to: Destination): Promise<void> {
  if (clip.verb === "copy") return await actions.copy(clip.entries, to);
  if (clip.share !== to.share) {
    setClipboard(undefined);
    return await actions.copy(clip.entries, to, { message: text.copiedInstead });
  }
  if (!canMoveInto(clip.entries, to.folder)) {
    const isHere = clip.entries.every((entry) => entry.folder === to.folder);
    toast({ text: isHere ? text.alreadyHere : text.intoItself });
    return;
  }
  const moved = new Set(await actions.move(clip.entries, to));
  const left = clip.entries.filter(({ id }) => !moved.has(id));
  if (moved.size > 0) setClipboard(left.length === 0 ? undefined : { ...clip, entries: left });
}

type ClipboardEventName = "copy" | "cut" | "paste";

/**
 * Handles the clipboard events of the page, which browsers send for their keys and menus. Those of fields, dialogs, and
 * selected text are left to the browser, and so are pasted files, which are uploaded.
 */
function useClipboardEvents(
  handlers: Partial<Record<ClipboardEventName, (() => void) | undefined>>,
  names = () => "",
): void {
  const latest = useRef(handlers);
  const latestNames = useRef(names);
  useEffect(() => {
    latest.current = handlers;
    latestNames.current = names;
  });
  useEffect(() => {
    const handle = (event: ClipboardEvent) => {
      const { type, clipboardData } = event;
      const run = type === "copy" || type === "cut" || type === "paste" ? latest.current[type] : undefined;
      if (run === undefined || event.defaultPrevented || isLeftToBrowser(event)) return;
      if (type === "paste" && clipboardData?.types.includes("Files") === true) return;
      event.preventDefault();
      // Replaces an image or a file that another program copied: pasting would upload it.
      if (type !== "paste") clipboardData?.setData("text/plain", latestNames.current());
      run();
    };
    for (const name of ["copy", "cut", "paste"] as const) document.addEventListener(name, handle);
    return () => {
      for (const name of ["copy", "cut", "paste"] as const) document.removeEventListener(name, handle);
    };
  }, []);
}

function isLeftToBrowser({ type, target }: ClipboardEvent): boolean {
  if (target instanceof Element && target.matches(":read-write")) return true;
  if (document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null) return true;
  return type !== "paste" && window.getSelection()?.isCollapsed === false;
}

/** As other programs paste them. */
function namesOf(entries: readonly Entry[]): string {
  return entries.map(({ name }) => name).join("\n");
}
