import { useState } from "react";
import { request } from "../../../api/http.ts";
import type { Role } from "../../../api/types.ts";
import { PasswordField } from "../../../ui/password-field.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { NewPlanSelect, RoleSelect } from "../account-fields.tsx";
import { AdminDialog } from "../admin-dialog.tsx";
import { text } from "../text.ts";
import type { Account, PasswordLink, PlanName } from "../types.ts";
import { LinkDialog } from "./link-dialog.tsx";

type CreatedAccount = Account & { readonly passwordLink?: PasswordLink };

/** Creates an account. If no password was given, shows the link with which its owner sets one. */
export function NewUserDialog({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [role, setRole] = useState<Role>("user");
  const [plan, setPlan] = useState<PlanName | "">("");
  const [created, setCreated] = useState<CreatedAccount>();
  if (created?.passwordLink !== undefined) {
    return (
      <LinkDialog
        title={text.welcomeLinkTitle({ email: created.email })}
        link={created.passwordLink}
        onClose={onClose}
      />
    );
  }
  const create = () =>
    request<CreatedAccount>("POST", "/api/admin/users", {
      body: {
        email: email.trim(),
        ...(name.trim() !== "" && { name: name.trim() }),
        ...(password !== "" && { password }),
        role,
        ...(plan !== "" && { plan }),
      },
    });
  const finish = (account: CreatedAccount) => {
    if (account.passwordLink !== undefined) return setCreated(account);
    toast({ text: text.createdDone({ email: account.email }), tone: "success" });
    onClose();
  };
  return (
    <AdminDialog
      title={text.addUser}
      description={text.newUserHint}
      action={text.addUser}
      isDisabled={email.trim() === ""}
      run={create}
      onDone={finish}
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
    </AdminDialog>
  );
}
