import { useMutation } from "@tanstack/react-query";
import { readRejection } from "../api/rejection.ts";
import { FormDialog, type FormDialogProps } from "./form-dialog.tsx";
import { Notice } from "./notice.tsx";

/** Props of {@link ActionDialog}. */
export interface ActionDialogProps<Result> extends Omit<FormDialogProps, "isBusy" | "onSubmit" | "children"> {
  readonly run: () => Promise<Result>;
  /** Called after success; by default closes the dialog. */
  readonly onDone?: (result: Result) => void;
  readonly children?: FormDialogProps["children"];
}

/** A dialog that runs an action when its form is submitted. It stays open with the error if the action fails. */
export function ActionDialog<Result>({ run, onDone, children, ...dialog }: ActionDialogProps<Result>) {
  const action = useMutation({ mutationFn: run, onSuccess: onDone ?? dialog.onClose });
  const rejection = readRejection(action.error, []);
  return (
    <FormDialog {...dialog} isBusy={action.isPending} onSubmit={action.mutate}>
      {rejection !== undefined && <Notice tone="danger">{rejection.message}</Notice>}
      {children}
    </FormDialog>
  );
}
