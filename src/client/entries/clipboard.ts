/**
 * Entries that the person copied or cut, to paste them into another folder. They are known to all tabs of the account in
 * this browser. Only the records of the entries are stored, not their content.
 */
import { useEffect, useMemo } from "react";
import type { Entry } from "../api/types.ts";
import { sessionState } from "../api/session.ts";
import { basePath } from "../base/address.ts";
import { createStore, useStore } from "../base/store.ts";

/** What is on the clipboard. */
export interface Clip {
  readonly verb: "copy" | "cut";
  readonly entries: readonly Entry[];
  /** The received share that the entries are in. */
  readonly share?: string | undefined;
}

/** A message between tabs: what is on the clipboard, or (without `clip`) the question for it. */
interface ClipMessage {
  readonly userId: string;
  readonly clip?: Clip | null;
}

const STORED_AS = "larder-clipboard";
/** More entries are not stored for a reload of the page. */
const STORED_MAX = 2_000;

const clipboard = createStore<Clip | undefined>(undefined);
let channel: BroadcastChannel | undefined;

/** What is on the clipboard; undefined if nothing is. */
export function useClipboard(): Clip | undefined {
  useEffect(connect, []);
  return useStore(clipboard);
}

/** The ids of the entries that were cut, which lists show faded. */
export function useCutIds(): ReadonlySet<string> {
  const clip = useClipboard();
  return useMemo(() => (clip?.verb === "cut" ? new Set(clip.entries.map(({ id }) => id)) : NONE), [clip]);
}

/** Replaces what is on the clipboard, in all tabs. */
export function setClipboard(clip: Clip | undefined): void {
  const userId = currentUserId();
  if (userId === undefined) return;
  connect();
  clipboard.set(clip);
  remember({ userId, clip: clip ?? null });
  channel?.postMessage({ userId, clip: clip ?? null } satisfies ClipMessage);
}

const NONE: ReadonlySet<string> = new Set();

/** Takes what was copied before a reload, or in another tab. */
function connect(): void {
  const userId = currentUserId();
  if (channel !== undefined || userId === undefined) return;
  channel = new BroadcastChannel(`larder-clipboard${basePath()}`);
  channel.addEventListener("message", ({ data }: MessageEvent<ClipMessage>) => receive(data));
  const stored = readRemembered();
  if (stored?.userId === userId) clipboard.set(stored.clip ?? undefined);
  else channel.postMessage({ userId } satisfies ClipMessage);
}

function receive(message: ClipMessage): void {
  const userId = currentUserId();
  if (userId === undefined || message.userId !== userId) return;
  if (message.clip !== undefined) {
    clipboard.set(message.clip ?? undefined);
    remember(message);
    return;
  }
  const clip = clipboard.get();
  if (clip !== undefined) channel?.postMessage({ userId, clip } satisfies ClipMessage);
}

function currentUserId(): string | undefined {
  const state = sessionState();
  return state.status === "signed-in" ? state.user.id : undefined;
}

function remember(message: ClipMessage): void {
  try {
    const isSmall = (message.clip?.entries.length ?? 0) <= STORED_MAX;
    window.sessionStorage.setItem(STORED_AS, JSON.stringify(isSmall ? message : { ...message, clip: null }));
  } catch {
    return; // Storage is off or full. The clipboard lasts until the page is closed.
  }
}

function readRemembered(): ClipMessage | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes it
    return JSON.parse(window.sessionStorage.getItem(STORED_AS) ?? "null") as ClipMessage | undefined;
  } catch {
    return undefined; // Storage is off.
  }
}
