import { useState } from "react";
import { request } from "../../../api/http.ts";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { FormDialog } from "../form-dialog.tsx";
import { text } from "../text.ts";
import type { Account } from "../types.ts";
import { showNothing, useAction } from "../use-action.ts";
import { nameOf } from "./user-columns.tsx";

/** Deletes an account with all its files. The email must be typed, so that nobody does that by accident. */
export function DeleteUserDialog({ account, onClose }: { readonly account: Account; readonly onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const erase = useAction(
    () => request("DELETE", `/api/admin/users/${account.id}`),
    () => {
      toast({ text: text.deletedDone(nameOf(account)) });
      onClose();
    },
    showNothing,
  );
  return (
    <FormDialog
      title={text.deleteTitle(nameOf(account))}
      description={text.deleteBody}
      action={text.delete}
      isDanger
      isBusy={erase.isPending}
      isDisabled={typed.trim().toLowerCase() !== account.email.toLowerCase()}
      error={erase.error}
      onSubmit={() => erase.mutate()}
      onClose={onClose}
    >
      <TextField
        label={text.deleteConfirm(account.email)}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={typed}
        onChange={setTyped}
      />
    </FormDialog>
  );
}
