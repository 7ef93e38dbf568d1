import { useState } from "react";
import { request } from "../../api/http.ts";
import type { Role } from "../../api/types.ts";
import { Select } from "../../ui/select.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { NewPlanSelect, RoleSelect } from "./account-fields.tsx";
import { AdminDialog } from "./admin-dialog.tsx";
import { text } from "./text.ts";
import type { NewInvite, PlanName } from "./types.ts";
import { CopyDialog } from "../../ui/copy-dialog.tsx";

const LIFETIMES_DAYS = [1, 7, 30, 365] as const;

/** Asks whom to invite, then shows the link, which can't be shown again. */
export function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("user");
  const [plan, setPlan] = useState<PlanName | "">("");
  const [days, setDays] = useState("7");
  const [created, setCreated] = useState<NewInvite>();
  if (created !== undefined) return <InviteLink invite={created} onClose={onClose} />;
  return (
    <AdminDialog
      title={text.newInvite}
      description={text.newInviteHint}
      action={text.invite}
      run={() =>
        request<NewInvite>("POST", "/api/admin/invites", {
          body: {
            ...(email.trim() !== "" && { email: email.trim() }),
            role,
            ...(plan !== "" && { plan }),
            expiresIn: `${days}d`,
          },
        })
      }
      onDone={setCreated}
      onClose={onClose}
    >
      <TextField label={text.emailOptional} type="email" autoComplete="off" value={email} onChange={setEmail} />
      <RoleSelect value={role} onChange={setRole} />
      <NewPlanSelect value={plan} onChange={setPlan} />
      <Select
        label={text.expires}
        value={days}
        onChange={setDays}
        options={LIFETIMES_DAYS.map((value) => ({ value: String(value), label: text.lifetime({ n: value }) }))}
      />
    </AdminDialog>
  );
}

function InviteLink({
  invite: { url, mailed, email },
  onClose,
}: {
  readonly invite: NewInvite;
  readonly onClose: () => void;
}) {
  const description = mailed && email !== null ? text.inviteMailed({ email }) : text.inviteByHand;
  return (
    <CopyDialog
      title={text.inviteReady}
      description={description}
      label={text.linkLabel}
      value={url}
      onClose={onClose}
    />
  );
}
