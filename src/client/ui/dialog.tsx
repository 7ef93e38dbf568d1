import { Suspense, useState } from "react";
import type { DialogProps } from "./dialog-popup.tsx";
import { lazyPart } from "./lazy-part.ts";
import { whenIdle } from "../base/when-idle.ts";

const DialogPopup = lazyPart(() => import("./dialog-popup.tsx").then((part) => part.DialogPopup));
whenIdle(() => void DialogPopup.preload());

/**
 * A modal dialog. It traps the focus and returns it on closing. On phones it slides in from below. Its script is
 * preloaded when the page is idle.
 */
export function Dialog(props: DialogProps) {
  const [wasOpen, setWasOpen] = useState(props.open);
  if (props.open && !wasOpen) setWasOpen(true);
  // A dialog that was never open needs no closing animation.
  if (!wasOpen && !props.open) return null;
  return (
    <Suspense fallback={null}>
      <DialogPopup {...props} />
    </Suspense>
  );
}
