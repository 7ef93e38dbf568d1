import { ActionDialog, type ActionDialogProps } from "../../ui/action-dialog.tsx";
import { useRefresh } from "./api.ts";

/** A form for a change by an administrator. Afterwards all data of the administration is fetched again. */
export function AdminDialog<Result>({ onDone, ...dialog }: ActionDialogProps<Result>) {
  const refresh = useRefresh();
  return (
    <ActionDialog
      {...dialog}
      isPersistent
      isChecked
      onDone={(result) => {
        if (onDone === undefined) dialog.onClose();
        else onDone(result);
        void refresh();
      }}
    />
  );
}
