import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/http.ts";
import type { Entry } from "../../api/types.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { text } from "../text.ts";

/** Asks for another name of a file or folder. Errors are shown at the field. */
export function RenameDialog({
  entry,
  rename,
  onClose,
}: {
  readonly entry: Entry;
  /** @throws ApiError | OfflineError */
  readonly rename: (name: string) => Promise<void>;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState(entry.name);
  const [isMissing, setMissing] = useState(false);
  const change = useMutation({ mutationFn: () => rename(name.trim()), onSuccess: onClose });
  const submit = () => {
    setMissing(name.trim() === "");
    if (name.trim() === entry.name) onClose();
    else if (name.trim() !== "") change.mutate();
  };
  return (
    <FormDialog onClose={onClose} title={text.rename} action={text.rename} isBusy={change.isPending} onSubmit={submit}>
      <TextField
        label={text.newName}
        value={name}
        onChange={(value) => {
          setName(value);
          setMissing(false);
          change.reset();
        }}
        autoComplete="off"
        error={isMissing ? text.nameMissing : change.error === null ? undefined : messageOf(change.error)}
      />
    </FormDialog>
  );
}
