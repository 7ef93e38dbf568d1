import { type FormEvent, useId, useState } from "react";
import { messageOf } from "../../../api/http.ts";
import { announce } from "../../../app/announce.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import type { FolderRecord } from "../../../api/types.ts";
import { text } from "../text.ts";

/** Asks for a name and makes a folder; a refusal is told at the field. */
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
  const formId = useId();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return setError(text.nameEmpty);
    setBusy(true);
    try {
      const folder = await make(name.trim());
      announce(text.madeFolder(folder.name));
      onClose();
    } catch (refusal) {
      setError(messageOf(refusal));
      setBusy(false);
    }
  };

  return (
    <Dialog
      open
      onClose={onClose}
      title={text.newFolderTitle}
      footer={
        <>
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button variant="primary" type="submit" form={formId} busy={isBusy}>
            {text.create}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)}>
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
      </form>
    </Dialog>
  );
}
