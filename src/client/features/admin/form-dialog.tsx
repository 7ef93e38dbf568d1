import { messageOf } from "../../api/http.ts";
import { FormDialog as Frame, type FormDialogProps } from "../../ui/form-dialog.tsx";
import { FormError } from "./form-error.tsx";

/** A form in a dialog that a press beside it doesn't close, with why it was refused. */
export function FormDialog({
  error,
  children,
  ...frame
}: FormDialogProps & {
  /** What the last try failed with; null for nothing. */
  readonly error: unknown;
}) {
  return (
    <Frame size="small" {...frame} isPersistent isChecked>
      {children}
      {error !== null && <FormError text={messageOf(error)} />}
    </Frame>
  );
}
