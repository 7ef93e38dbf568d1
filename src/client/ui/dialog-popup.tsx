import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode, RefObject } from "react";
import { X } from "./icons.ts";
import { cx } from "./cx.ts";
import { IconButton } from "./icon-button.tsx";
import { uiText } from "./text.ts";

/** Maximum width of a dialog. */
type DialogSize = "small" | "medium" | "large";

/** Props of a dialog. */
export interface DialogProps {
  readonly open: boolean;
  /** Called on Escape, the close button, or a press outside. */
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  /** Buttons; the confirming one comes last. */
  readonly footer?: ReactNode;
  readonly size?: DialogSize;
  /** The element to focus first; by default the first control of the content. */
  readonly initialFocus?: RefObject<HTMLElement | null>;
  /** Does not close on a press outside, because input would be lost. */
  readonly isPersistent?: boolean;
  /** False hides the close button, if there is nothing to go back to. */
  readonly hasClose?: boolean;
  readonly role?: "dialog" | "alertdialog";
}

const SIZES: Readonly<Record<DialogSize, string>> = {
  small: "sm:max-w-md",
  medium: "sm:max-w-xl",
  large: "sm:max-w-3xl",
};

/** A modal dialog. It traps the focus and returns it on closing. On phones it slides in from below. */
export function DialogPopup({
  open,
  onClose,
  title,
  description,
  children,
  footer,
  size = "small",
  initialFocus,
  isPersistent = false,
  hasClose = true,
  role,
}: DialogProps) {
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={isPersistent}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="appear fixed inset-0 z-50 bg-veil" />
        <Base.Popup
          data-sheet
          {...(role !== undefined && { role })}
          {...(initialFocus !== undefined && { initialFocus })}
          className={cx(
            "appear fixed z-50 flex max-h-[92dvh] w-full flex-col bg-raised text-ink shadow-2xl",
            "inset-x-0 bottom-0 rounded-t-2xl sm:inset-x-auto sm:bottom-auto sm:start-1/2 sm:top-1/2 sm:rounded-2xl",
            "sm:-translate-x-1/2 sm:-translate-y-1/2 rtl:sm:translate-x-1/2",
            SIZES[size],
          )}
        >
          <Base.Title className={cx("px-5 pt-5 text-lg font-semibold break-words", hasClose && "pe-16")}>
            {title}
          </Base.Title>
          <div className={cx("min-h-0 flex-1 overflow-y-auto px-5 pb-5", description === undefined ? "pt-3" : "pt-1")}>
            {description !== undefined && (
              <Base.Description className="mb-3 text-sm text-muted">{description}</Base.Description>
            )}
            {children}
          </div>
          {footer !== undefined && (
            <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</div>
          )}
          {/* Last, so that the first control of the content gets the focus first. */}
          {hasClose && (
            <IconButton
              label={uiText.close}
              icon={X}
              hasTooltip={false}
              onClick={onClose}
              className="absolute end-3 top-3.5"
            />
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
