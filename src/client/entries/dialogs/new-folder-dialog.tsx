import { useState } from "react";
import { messageOf } from "../../api/http.ts";
import { announce } from "../../base/announce.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField } from "../../ui/text-field.tsx";
import type { FolderRecord } from "../../api/types.ts";
import { text } from "../text.ts";

/** Asks for a name and creates a folder. Errors are shown at the field. */
export function NewFolderDialog({
  make,
  onClose,
}: {
  /** @throws ApiError | OfflineError */
  readonly make: (name: string) => Promise<FolderRecord>;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState("");
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  const submit = async () => {
    if (name.trim() === "") return setError(text.nameMissing);
    setBusy(true);
    try {
      const folder = await make(name.trim());
      announce(text.folderCreated(folder.name));
      onClose();
    } catch (failure) {
      setError(messageOf(failure));
      setBusy(false);
    }
  };

  return (
    <FormDialog
      onClose={onClose}
      title={text.newFolderTitle}
      action={text.create}
      isBusy={isBusy}
      onSubmit={() => void submit()}
    >
      <TextField
        label={text.newFolderName}
        value={name}
        onChange={(value) => {
          setName(value);
          setError(undefined);
        }}
        autoComplete="off"
        {...(error !== undefined && { error })}
      />
    </FormDialog>
  );
}
