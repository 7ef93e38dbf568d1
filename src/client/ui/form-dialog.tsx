import { type ReactNode, useId } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import type { DialogProps } from "./dialog-popup.tsx";
import { uiText } from "./text.ts";

/** Props of a form dialog. */
export interface FormDialogProps extends Omit<DialogProps, "open" | "footer"> {
  /** The label of the submit button: a verb. */
  readonly action: string;
  readonly isDanger?: boolean;
  /** The form is being submitted. */
  readonly isBusy?: boolean;
  /** The form can't be submitted yet. */
  readonly isDisabled?: boolean;
  /** Uses the browser's validation (`required`, `type`) before submitting. */
  readonly isChecked?: boolean;
  /** Called on the submit button, or Enter in a field. Without `isChecked`, it must validate the fields itself. */
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

/** A dialog with a form. It stays open until it is submitted or canceled, and is open as long as it is mounted. */
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
          // Ignores a second Enter while submitting, or Enter in an incomplete form.
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
