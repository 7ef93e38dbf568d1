import { type ReactNode, useId } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import type { DialogProps } from "./dialog-popup.tsx";
import { uiText } from "./text.ts";

/** What a form in a dialog is made of. */
export interface FormDialogProps extends Omit<DialogProps, "open" | "footer"> {
  /** The word on the button that sends it: a verb. */
  readonly action: string;
  readonly isDanger?: boolean;
  /** It is on its way. */
  readonly isBusy?: boolean;
  /** It can't be sent as it is. */
  readonly isDisabled?: boolean;
  /** The browser itself tells what a field can't hold (`required`, `type`), before it is sent. */
  readonly isChecked?: boolean;
  /** By the button, or by Enter in a field. What fields can't hold is for this to tell, in words. */
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

/** A dialog that asks for something, and stays until it is sent or left; it is open for as long as it is drawn. */
export function FormDialog({
  action,
  isDanger = false,
  isBusy = false,
  isDisabled = false,
  isChecked = false,
  onSubmit,
  children,
  ...dialog
}: FormDialogProps) {
  const formId = useId();
  return (
    <Dialog
      {...dialog}
      open
      footer={
        <>
          <Button onClick={dialog.onClose}>{uiText.cancel}</Button>
          <Button
            type="submit"
            form={formId}
            variant={isDanger ? "danger" : "primary"}
            busy={isBusy}
            disabled={isDisabled}
          >
            {action}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        onSubmit={(event) => {
          event.preventDefault();
          // A second Enter while it is on its way, or before it is whole, sends nothing.
          if (!isBusy && !isDisabled) onSubmit();
        }}
        noValidate={!isChecked}
        className="flex flex-col gap-4"
      >
        {children}
      </form>
    </Dialog>
  );
}
