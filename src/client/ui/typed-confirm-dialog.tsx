import { useState } from "react";
import { ActionDialog, type ActionDialogProps } from "./action-dialog.tsx";
import { TextField } from "./text-field.tsx";

/** Runs a destructive action after the person has typed `expected`, so that nobody runs it by accident. */
export function TypedConfirmDialog({
  label,
  expected,
  ...dialog
}: Omit<ActionDialogProps<unknown>, "isDanger" | "isDisabled" | "children"> & {
  readonly label: string;
  readonly expected: string;
}) {
  const [typed, setTyped] = useState("");
  return (
    <ActionDialog {...dialog} isDanger isDisabled={typed.trim().toLowerCase() !== expected.toLowerCase()}>
      <TextField
        label={label}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={typed}
        onChange={setTyped}
      />
    </ActionDialog>
  );
}
