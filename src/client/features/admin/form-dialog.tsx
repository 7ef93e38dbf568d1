import { messageOf } from "../../api/http.ts";
import { FormDialog as Frame, type FormDialogProps } from "../../ui/form-dialog.tsx";
import { FormError } from "./form-error.tsx";

/** A form in a dialog that shows errors, and does not close on a press outside. */
export function FormDialog({
  error,
  children,
  ...frame
}: FormDialogProps & {
  /** The error of the last attempt; null if there is none. */
  readonly error: unknown;
}) {
  return (
    <Frame size="small" {...frame} isPersistent isChecked>
      {children}
      {error !== null && <FormError text={messageOf(error)} />}
    </Frame>
  );
}
