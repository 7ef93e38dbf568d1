import { type ReactNode, type RefObject, Suspense, useState } from "react";
import { lazyPart } from "./lazy-part.ts";
import { whenIdle } from "../base/when-idle.ts";

/** Greatest width of a dialog. */
export type DialogSize = "small" | "medium" | "large";

/** What a dialog is made of. */
export interface DialogProps {
  readonly open: boolean;
  /** Asked for by Escape, the cross, or a press beside it. */
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  /** Buttons; the one that does it comes last. */
  readonly footer?: ReactNode;
  readonly size?: DialogSize;
  /** What has the focus at first; else the first control of the content. */
  readonly initialFocus?: RefObject<HTMLElement | null>;
  /** Stays open at a press beside it, because what was typed would be lost. */
  readonly isPersistent?: boolean;
  /** Without the cross, where there is nothing to go back to. */
  readonly hasClose?: boolean;
  readonly role?: "dialog" | "alertdialog";
}

const DialogPopup = lazyPart(() => import("./dialog-popup.tsx").then((part) => part.DialogPopup));
whenIdle(() => void DialogPopup.preload());

/**
 * A dialog above the page; the focus stays in it and returns where it came from. On phones it comes from below. Its script is
 * fetched when the page has nothing better to do.
 */
export function Dialog(props: DialogProps) {
  const [wasOpen, setWasOpen] = useState(props.open);
  if (props.open && !wasOpen) setWasOpen(true);
  // One that was never open has nothing to close with a movement either.
  if (!wasOpen && !props.open) return null;
  return (
    <Suspense fallback={null}>
      <DialogPopup {...props} />
    </Suspense>
  );
}
