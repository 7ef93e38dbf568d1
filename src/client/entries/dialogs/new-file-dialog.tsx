import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/http.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { createFile } from "../editing/create-file.ts";
import { useOpenEditor } from "../editing/edit-text.ts";
import { text as entryText } from "../text.ts";
import { text } from "./text.ts";

/** The kinds of new files, which are the values of `dialog=` in the address. */
export const NEW_FILES = {
  "new-text": { extension: ".txt", type: "text/plain" },
  "new-markdown": { extension: ".md", type: "text/markdown" },
} as const;

/** One of {@link NEW_FILES}. */
export type NewFileKind = keyof typeof NEW_FILES;

/** Asks for a name, creates an empty file, and opens it in the editor. */
export function NewFileDialog({
  kind,
  folder,
  share,
  onClose,
}: {
  readonly kind: NewFileKind;
  readonly folder: string;
  readonly share: string | undefined;
  readonly onClose: () => void;
}) {
  const { extension, type } = NEW_FILES[kind];
  const [name, setName] = useState(`${text.newFileDefault}${extension}`);
  const openEditor = useOpenEditor();
  const trimmed = name.trim();
  const create = useMutation({
    mutationFn: () =>
      createFile({
        name: /\.[^.\s]+$/.test(trimmed) ? trimmed : `${trimmed}${extension}`,
        folder,
        share,
        content: new Blob([], { type }),
        mayRename: false,
      }),
    onSuccess: ({ id }) => openEditor(id, { replace: true }),
  });
  const isMissing = trimmed === "";
  return (
    <FormDialog
      onClose={onClose}
      title={kind === "new-text" ? entryText.newTextFile : entryText.newMarkdownFile}
      action={text.create}
      isBusy={create.isPending}
      isDisabled={isMissing}
      onSubmit={create.mutate}
    >
      <TextField
        label={text.newFileName}
        value={name}
        onChange={(value) => {
          setName(value);
          create.reset();
        }}
        onFocus={({ target }) => target.setSelectionRange(0, Math.max(0, target.value.lastIndexOf(".")))}
        autoComplete="off"
        error={create.error === null ? undefined : messageOf(create.error)}
      />
    </FormDialog>
  );
}
