import { type ReactNode, useId } from "react";
import { messageOf } from "../../api/http.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FormError } from "./form-error.tsx";
import { text } from "./text.ts";

/** A dialog with a form in it, and why it was refused. */
export function FormDialog({
  title,
  description,
  action,
  danger = false,
  isBusy,
  isIncomplete = false,
  error,
  onSubmit,
  onClose,
  size = "small",
  children,
}: {
  readonly title: string;
  readonly description?: ReactNode;
  /** The word on the button that sends it. */
  readonly action: string;
  readonly danger?: boolean;
  readonly isBusy: boolean;
  readonly isIncomplete?: boolean;
  /** What the last try failed with; null for nothing. */
  readonly error: unknown;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly size?: "small" | "medium";
  readonly children: ReactNode;
}) {
  const form = useId();
  return (
    <Dialog
      open
      isPersistent
      onClose={onClose}
      title={title}
      size={size}
      {...(description !== undefined && { description })}
      footer={
        <>
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button
            variant={danger ? "danger" : "primary"}
            type="submit"
            form={form}
            busy={isBusy}
            disabled={isIncomplete}
          >
            {action}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isIncomplete && !isBusy) onSubmit();
        }}
      >
        {children}
        {error !== null && <FormError text={messageOf(error)} />}
      </form>
    </Dialog>
  );
}
