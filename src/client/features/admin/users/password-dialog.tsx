import { useState } from "react";
import { request } from "../../../api/http.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { PasswordField } from "../../../ui/password-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { AdminDialog } from "../admin-dialog.tsx";
import { text } from "../text.ts";
import type { Account } from "../types.ts";
import { nameOf } from "./user-columns.tsx";

/** Sets the password of an account. */
export function PasswordDialog({ account, onClose }: { readonly account: Account; readonly onClose: () => void }) {
  const [password, setPassword] = useState("");
  const [endsKeys, setEndsKeys] = useState(false);
  return (
    <AdminDialog
      title={text.setPasswordTitle({ name: nameOf(account) })}
      description={text.setPasswordHint}
      action={text.save}
      isDisabled={password === ""}
      run={async () => {
        await request("PATCH", `/api/admin/users/${account.id}`, { body: { password, endKeys: endsKeys } });
        toast({ text: text.saved, tone: "success" });
      }}
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
    </AdminDialog>
  );
}
