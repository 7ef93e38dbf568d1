import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useId, useRef, useState } from "react";
import { messageOf } from "../../api/http.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { text } from "./text.ts";

/** Asks for another name. It stays open, with words, where the server refuses. */
export function RenameDialog(props: {
  title: string;
  label: string;
  name: string;
  rename(name: string): Promise<unknown>;
  onClose(): void;
}) {
  const [name, setName] = useState(props.name);
  const formId = useId();
  // Not `autoFocus`: it would take the focus before the dialog has seen where to give it back to.
  const first = useRef<HTMLInputElement>(null);
  const deed = useMutation({ mutationFn: () => props.rename(name.trim()), onSuccess: props.onClose });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") deed.mutate();
  };
  return (
    <Dialog
      open
      onClose={props.onClose}
      initialFocus={first}
      title={props.title}
      footer={
        <>
          <Button onClick={props.onClose}>{text.cancel}</Button>
          <Button type="submit" form={formId} variant="primary" busy={deed.isPending} disabled={name.trim() === ""}>
            {text.save}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} noValidate>
        <TextField
          label={props.label}
          value={name}
          onChange={setName}
          error={deed.error === null ? undefined : messageOf(deed.error)}
          ref={first}
        />
      </form>
    </Dialog>
  );
}
