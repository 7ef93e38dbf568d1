import { X } from "./icons.ts";
import { useEffect, useRef, useState } from "react";
import { messageOf } from "../api/http.ts";
import { createStore, useStore } from "../base/store.ts";
import { Button } from "./button.tsx";
import { cx } from "./cx.ts";
import { IconButton } from "./icon-button.tsx";
import { uiText } from "./text.ts";

/** A message at the edge of the page that disappears automatically. */
interface Toast {
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void };
  readonly tone?: "neutral" | "success" | "danger";
  /** Replaces an earlier message with the same id. */
  readonly id?: string;
}

interface ShownToast extends Toast {
  readonly key: number;
}

/** Where the focus goes afterwards: the cursor of the page's list. */
const HOME = '#main [data-position][tabindex="0"]';

const MOST_AT_ONCE = 3;
const SHORT_MS = 6000;
/** A message with an undo button stays longer, so that there is time to read, decide and press. */
const LONG_MS = 12_000;

const shown = createStore<readonly ShownToast[]>([]);
let lastKey = 0;

/**
 * Shows a message, with `action` as its button.
 * @returns a function that removes the message
 */
export function toast(message: Toast): () => void {
  lastKey += 1;
  const key = lastKey;
  shown.update((known) =>
    [...known.filter((other) => message.id === undefined || other.id !== message.id), { ...message, key }].slice(
      -MOST_AT_ONCE,
    ),
  );
  return () => dismiss(key);
}

/** Shows why something failed. */
export function showError(error: unknown): void {
  toast({ text: messageOf(error), tone: "danger" });
}

function dismiss(key: number): void {
  shown.update((known) => known.filter((other) => other.key !== key));
}

/**
 * Renders the messages; once in the page. They stay while one is hovered or focused. On phones they appear above the
 * round "New" button, elsewhere opposite the upload tray.
 */
export function ToastHost() {
  const toasts = useStore(shown);
  const [isOver, setIsOver] = useState(false);
  const [hasFocus, setHasFocus] = useState(false);
  const host = useRef<HTMLElement>(null);
  const cameFrom = useRef<EventTarget | null>(null);
  useEffect(() => {
    // A message that newer ones pushed out may have had the focus. Browsers fire no blur event then.
    if (host.current?.contains(document.activeElement) !== true) setHasFocus(false);
  }, [toasts]);
  /** Removes the message that was pressed. The focus returns to where it was, or at least to the page. */
  const leave = (key: number) => {
    const hadFocus = host.current?.contains(document.activeElement) === true;
    const former = cameFrom.current;
    dismiss(key);
    // The removed message may have been hovered or focused, and no leave event is fired for it.
    setIsOver(false);
    setHasFocus(false);
    if (!hadFocus) return;
    const back =
      former instanceof HTMLElement && former.isConnected ? former : document.querySelector<HTMLElement>(HOME);
    back?.focus({ preventScroll: true });
  };
  return (
    <section
      ref={host}
      aria-label={uiText.notifications}
      onPointerEnter={() => setIsOver(true)}
      onPointerLeave={() => setIsOver(false)}
      onFocus={({ relatedTarget }) => {
        setHasFocus(true);
        const isInside = relatedTarget instanceof Node && host.current?.contains(relatedTarget) === true;
        if (!isInside) cameFrom.current = relatedTarget;
      }}
      onBlur={() => setHasFocus(false)}
      className={cx(
        "pointer-events-none fixed inset-x-3 bottom-20 z-60 flex flex-col items-center gap-2",
        "max-sm:[html:has([data-floating-action])_&]:bottom-36 sm:inset-x-4 sm:bottom-4 sm:items-start lg:start-62",
        // On phones dialogs slide in from below, and a message there would cover them.
        "max-sm:[html:has([data-sheet])_&]:top-3 max-sm:[html:has([data-sheet])_&]:bottom-auto!",
      )}
    >
      <div aria-live="polite" aria-relevant="additions" className="contents">
        {toasts.map((each) => (
          <OneToast key={each.key} toast={each} isPaused={isOver || hasFocus} onLeave={() => leave(each.key)} />
        ))}
      </div>
    </section>
  );
}

function OneToast({
  toast: { key, text, action, tone = "neutral" },
  isPaused,
  onLeave,
}: {
  readonly toast: ShownToast;
  readonly isPaused: boolean;
  readonly onLeave: () => void;
}) {
  const lifeMs = action === undefined ? SHORT_MS : LONG_MS;
  useEffect(() => {
    if (isPaused) return;
    const timer = setTimeout(() => dismiss(key), lifeMs);
    return () => clearTimeout(timer);
  }, [key, lifeMs, isPaused]);
  return (
    <div
      className={cx(
        "pointer-events-auto flex max-w-lg items-center gap-2 rounded-xl border bg-raised py-1.5 ps-4 pe-1.5 text-sm shadow-xl",
        tone === "neutral" && "border-line-strong",
        tone === "success" && "border-success",
        tone === "danger" && "border-danger",
      )}
    >
      <span className="min-w-0 flex-1 py-1 break-words">{text}</span>
      {action !== undefined && (
        <Button
          variant="quiet"
          size="small"
          className="font-semibold text-accent"
          onClick={() => {
            onLeave();
            action.run();
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton label={uiText.dismiss} icon={X} iconSize={18} hasTooltip={false} onClick={onLeave} />
    </div>
  );
}
