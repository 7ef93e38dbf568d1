import { useState } from "react";
import { request } from "../../../api/http.ts";
import type { Role } from "../../../api/types.ts";
import { PasswordField } from "../../../ui/password-field.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { NewPlanSelect, RoleSelect } from "../account-fields.tsx";
import { FormDialog } from "../form-dialog.tsx";
import { text } from "../text.ts";
import type { Account, PasswordLink, PlanName } from "../types.ts";
import { showNothing, useAction } from "../use-action.ts";
import { LinkDialog } from "./link-dialog.tsx";

/** Creates an account. If no password was given, shows the link with which its owner sets one. */
export function NewUserDialog({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [role, setRole] = useState<Role>("user");
  const [plan, setPlan] = useState<PlanName | "">("");
  const create = useAction(
    () =>
      request<Account & { passwordLink?: PasswordLink }>("POST", "/api/admin/users", {
        body: {
          email: email.trim(),
          ...(name.trim() !== "" && { name: name.trim() }),
          ...(password !== "" && { password }),
          role,
          ...(plan !== "" && { plan }),
        },
      }),
    (account) => {
      if (account.passwordLink !== undefined) return; // The dialog with the link already confirms the success.
      toast({ text: text.createdDone(account.email), tone: "success" });
      onClose();
    },
    showNothing,
  );
  const created = create.data;
  if (created?.passwordLink !== undefined) {
    return <LinkDialog title={text.resetLinkTitle(created.email)} link={created.passwordLink} onClose={onClose} />;
  }
  return (
    <FormDialog
      title={text.addUser}
      description={text.newUserHint}
      action={text.addUser}
      isBusy={create.isPending}
      isDisabled={email.trim() === ""}
      error={create.error}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField label={text.email} type="email" required autoComplete="off" value={email} onChange={setEmail} />
      <TextField label={text.name} autoComplete="off" value={name} onChange={setName} />
      <PasswordField
        label={text.passwordOptional}
        hint={text.passwordHint}
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
      />
      <RoleSelect value={role} onChange={setRole} />
      <NewPlanSelect value={plan} onChange={setPlan} />
    </FormDialog>
  );
}
