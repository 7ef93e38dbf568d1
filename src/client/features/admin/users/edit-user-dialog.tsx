import { planName } from "../../../base/plan-names.ts";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { useSession } from "../../../api/session.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { RoleSelect } from "../account-fields.tsx";
import { AdminDialog } from "../admin-dialog.tsx";
import { text } from "../text.ts";
import { type Account, PLANS } from "../types.ts";
import { toQuotaChoice, QuotaField, toQuota } from "./quota-field.tsx";
import { nameOf } from "./user-columns.tsx";

/** Changes the profile, role and limits of an account. Only changed fields are sent. */
export function EditUserDialog({ account, onClose }: { readonly account: Account; readonly onClose: () => void }) {
  const isOwn = useSession().user.id === account.id;
  const [name, setName] = useState(account.name);
  const [email, setEmail] = useState(account.email);
  const [ownsEmail, setOwnsEmail] = useState(false);
  const [role, setRole] = useState(account.role);
  const [plan, setPlan] = useState(account.plan);
  const [quotaChoice, setQuotaChoice] = useState(() => toQuotaChoice(account));
  const quota = toQuota(quotaChoice);
  const isEmailChanged = email.trim() !== account.email;
  const isQuotaChanged = JSON.stringify(quotaChoice) !== JSON.stringify(toQuotaChoice(account));
  const changes = {
    ...(name.trim() !== account.name && { name: name.trim() }),
    ...(isEmailChanged && { email: email.trim(), ...(ownsEmail && { emailVerified: true }) }),
    ...(role !== account.role && { role }),
    ...(plan !== account.plan && { plan }),
    ...(isQuotaChanged && { quota }),
  };
  const save = async () => {
    if (Object.keys(changes).length === 0) return;
    await request<Account>("PATCH", `/api/admin/users/${account.id}`, { body: changes });
    toast({ text: text.saved, tone: "success" });
  };
  return (
    <AdminDialog
      title={text.editTitle({ name: nameOf(account) })}
      action={text.save}
      isDisabled={email.trim() === "" || quota === undefined}
      run={save}
      onClose={onClose}
    >
      <TextField label={text.name} autoComplete="off" value={name} onChange={setName} />
      {isOwn ? (
        <p className="text-sm text-muted">{text.ownAccountHint}</p>
      ) : (
        <>
          <TextField label={text.email} type="email" required autoComplete="off" value={email} onChange={setEmail} />
          {isEmailChanged && <Checkbox label={text.ownsEmail} checked={ownsEmail} onChange={setOwnsEmail} />}
          <RoleSelect value={role} onChange={setRole} />
        </>
      )}
      <Select
        label={text.plan}
        value={plan}
        onChange={setPlan}
        options={PLANS.map((value) => ({ value, label: planName(value) }))}
      />
      <QuotaField value={quotaChoice} onChange={setQuotaChoice} />
    </AdminDialog>
  );
}
