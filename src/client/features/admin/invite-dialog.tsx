import { useState } from "react";
import { request } from "../../api/http.ts";
import type { Role } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { CopyField } from "../../ui/copy-field.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/select.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { NewPlanSelect, RoleSelect } from "./account-fields.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { text } from "./text.ts";
import type { NewInvite, PlanName } from "./types.ts";
import { showNothing, useAction } from "./use-action.ts";

const LIFETIMES_DAYS = [1, 7, 30, 365] as const;

/** Asks whom to invite, then shows the link, which can't be shown again. */
export function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("user");
  const [plan, setPlan] = useState<PlanName | "">("");
  const [days, setDays] = useState("7");
  const invite = useAction(
    () =>
      request<NewInvite>("POST", "/api/admin/invites", {
        body: {
          ...(email.trim() !== "" && { email: email.trim() }),
          role,
          ...(plan !== "" && { plan }),
          expiresIn: `${days}d`,
        },
      }),
    undefined,
    showNothing,
  );
  if (invite.data !== undefined) return <Ready invite={invite.data} onClose={onClose} />;
  return (
    <FormDialog
      title={text.newInvite}
      description={text.newInviteHint}
      action={text.invite}
      isBusy={invite.isPending}
      error={invite.error}
      onSubmit={() => invite.mutate()}
      onClose={onClose}
    >
      <TextField label={text.emailOptional} type="email" autoComplete="off" value={email} onChange={setEmail} />
      <RoleSelect value={role} onChange={setRole} />
      <NewPlanSelect value={plan} onChange={setPlan} />
      <Select
        label={text.expiresIn}
        value={days}
        onChange={setDays}
        options={LIFETIMES_DAYS.map((value) => ({ value: String(value), label: text.days(value) }))}
      />
    </FormDialog>
  );
}

function Ready({
  invite: { url, mailed, email },
  onClose,
}: {
  readonly invite: NewInvite;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      open
      isPersistent
      onClose={onClose}
      title={text.inviteReady}
      footer={
        <Button variant="primary" onClick={onClose}>
          {text.done}
        </Button>
      }
    >
      <p className="mb-3 text-sm">{mailed && email !== null ? text.inviteMailed(email) : text.inviteByHand}</p>
      <CopyField label={text.linkLabel} value={url} />
    </Dialog>
  );
}
