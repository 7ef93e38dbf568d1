import { useState } from "react";
import { request } from "../../../api/http.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { PasswordField } from "../../../ui/password-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { FormDialog } from "../form-dialog.tsx";
import { text } from "../text.ts";
import type { Account } from "../types.ts";
import { showNothing, useAction } from "../use-action.ts";
import { nameOf } from "./user-columns.tsx";

/** Sets the password of an account. */
export function PasswordDialog({ account, onClose }: { readonly account: Account; readonly onClose: () => void }) {
  const [password, setPassword] = useState("");
  const [endsKeys, setEndsKeys] = useState(false);
  const change = useAction(
    () => request("PATCH", `/api/admin/users/${account.id}`, { body: { password, endKeys: endsKeys } }),
    () => {
      toast({ text: text.saved, tone: "success" });
      onClose();
    },
    showNothing,
  );
  return (
    <FormDialog
      title={text.setPasswordTitle(nameOf(account))}
      description={text.setPasswordHint}
      action={text.save}
      isBusy={change.isPending}
      isDisabled={password === ""}
      error={change.error}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <PasswordField
        label={text.password}
        hint={text.passwordHint}
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
      />
      <Checkbox label={text.endKeys} checked={endsKeys} onChange={setEndsKeys} />
    </FormDialog>
  );
}
