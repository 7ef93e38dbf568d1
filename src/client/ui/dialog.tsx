import { createContext, Suspense, use, useState } from "react";
import { useDialogEntry } from "../base/overlays.ts";
import { whenIdle } from "../base/when-idle.ts";
import type { DialogProps } from "./dialog-popup.tsx";
import { lazyPart } from "./lazy-part.ts";

const DialogPopup = lazyPart(() => import("./dialog-popup.tsx").then((part) => part.DialogPopup));
whenIdle(() => void DialogPopup.preload());

/** True around a dialog that the address opens: it has a history entry already. */
export const HasAddress = createContext(false);

/**
 * A modal dialog. It traps the focus and returns it on closing, and Back closes it. On phones it slides in from below.
 * Its script is preloaded when the page is idle.
 */
export function Dialog(props: DialogProps) {
  const [wasOpen, setWasOpen] = useState(props.open);
  const hasAddress = use(HasAddress);
  // A dialog that can't be closed has nothing to go back to.
  const canClose = props.hasClose !== false || props.role === "alertdialog";
  useDialogEntry(props.open && canClose && !hasAddress, props.onClose);
  if (props.open && !wasOpen) setWasOpen(true);
  // A dialog that was never open needs no closing animation.
  if (!wasOpen && !props.open) return null;
  return (
    <HasAddress value={false}>
      <Suspense fallback={null}>
        <DialogPopup {...props} />
      </Suspense>
    </HasAddress>
  );
}
