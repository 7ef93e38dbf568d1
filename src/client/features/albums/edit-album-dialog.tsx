import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { ErrorMessage } from "../../ui/error-message.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { text } from "./text.ts";

/** Name and description of an album. */
export interface AlbumDraft {
  readonly name: string;
  readonly description: string;
}

/** Asks for the name and description of a new album, or of an existing one. */
export function EditAlbumDialog({
  album,
  save,
  onClose,
}: {
  /** Undefined for a new one. */
  readonly album?: AlbumDraft;
  /** @throws ApiError, OfflineError */
  readonly save: (draft: AlbumDraft) => Promise<void>;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState(album?.name ?? "");
  const [description, setDescription] = useState(album?.description ?? "");
  const [isMissing, setMissing] = useState(false);
  const change = useMutation({
    mutationFn: () => save({ name: name.trim(), description: description.trim() }),
    onSuccess: onClose,
  });
  const submit = () => {
    setMissing(name.trim() === "");
    if (name.trim() !== "") change.mutate();
  };
  return (
    <FormDialog
      onClose={onClose}
      isPersistent
      title={album === undefined ? text.newAlbum : text.editTitle}
      action={album === undefined ? text.create : text.save}
      isBusy={change.isPending}
      onSubmit={submit}
    >
      <ErrorMessage error={change.error} />
      <TextField
        label={text.name}
        value={name}
        onChange={(value) => {
          setName(value);
          setMissing(false);
        }}
        autoComplete="off"
        error={isMissing ? text.nameMissing : undefined}
      />
      <TextArea label={text.description} value={description} onChange={setDescription} rows={3} />
    </FormDialog>
  );
}
