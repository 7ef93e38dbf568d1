import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { messageOf } from "../../api/http.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { text } from "./text.ts";

/** Asks for a new name. Stays open with the error if the server rejects it. */
export function RenameDialog(props: {
  title: string;
  label: string;
  name: string;
  rename(name: string): Promise<unknown>;
  onClose(): void;
}) {
  const [name, setName] = useState(props.name);
  // Not `autoFocus`: the dialog could not remember the previously focused element.
  const first = useRef<HTMLInputElement>(null);
  const renaming = useMutation({ mutationFn: () => props.rename(name.trim()), onSuccess: props.onClose });
  const submit = () => {
    if (name.trim() !== "") renaming.mutate();
  };
  return (
    <FormDialog
      onClose={props.onClose}
      initialFocus={first}
      title={props.title}
      action={text.save}
      isBusy={renaming.isPending}
      isDisabled={name.trim() === ""}
      onSubmit={submit}
    >
      <TextField
        label={props.label}
        value={name}
        onChange={setName}
        error={renaming.error === null ? undefined : messageOf(renaming.error)}
        ref={first}
      />
    </FormDialog>
  );
}
