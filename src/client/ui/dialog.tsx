import { Suspense, useState } from "react";
import type { DialogProps } from "./dialog-popup.tsx";
import { lazyPart } from "./lazy-part.ts";
import { whenIdle } from "../base/when-idle.ts";

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
