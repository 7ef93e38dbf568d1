import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { readRejection } from "../../api/rejection.ts";

/** Asks for confirmation, then runs an action. Stays open with the error if the action fails. */
export function ActionDialog(props: {
  title: string;
  description: string;
  action: string;
  isDanger?: boolean;
  isDisabled?: boolean;
  run(): Promise<unknown>;
  onClose(): void;
  children?: ReactNode;
}) {
  const action = useMutation({ mutationFn: () => props.run(), onSuccess: props.onClose });
  const rejection = readRejection(action.error, []);
  return (
    <FormDialog
      onClose={props.onClose}
      title={props.title}
      description={props.description}
      action={props.action}
      isDanger={props.isDanger === true}
      isDisabled={props.isDisabled === true}
      isBusy={action.isPending}
      onSubmit={action.mutate}
    >
      {rejection !== undefined && <Notice tone="danger">{rejection.message}</Notice>}
      {props.children}
    </FormDialog>
  );
}
