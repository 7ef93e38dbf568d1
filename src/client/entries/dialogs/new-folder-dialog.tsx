import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/http.ts";
import { announce } from "../../base/announce.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField } from "../../ui/text-field.tsx";
import type { FolderRecord } from "../../api/types.ts";
import { text as entryText } from "../text.ts";
import { text } from "./text.ts";

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
  const [isMissing, setMissing] = useState(false);
  const create = useMutation({
    mutationFn: () => make(name.trim()),
    onSuccess: (folder) => {
      announce(text.folderCreated({ name: folder.name }));
      onClose();
    },
  });
  const submit = () => {
    setMissing(name.trim() === "");
    if (name.trim() !== "") create.mutate();
  };
  return (
    <FormDialog
      onClose={onClose}
      title={text.newFolderTitle}
      action={text.create}
      isBusy={create.isPending}
      onSubmit={submit}
    >
      <TextField
        label={text.newFolderName}
        value={name}
        onChange={(value) => {
          setName(value);
          setMissing(false);
          create.reset();
        }}
        autoComplete="off"
        error={isMissing ? entryText.nameMissing : create.error === null ? undefined : messageOf(create.error)}
      />
    </FormDialog>
  );
}
