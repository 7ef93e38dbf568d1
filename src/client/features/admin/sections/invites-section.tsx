import { planName } from "../../../base/plan-names.ts";
import { MailPlus } from "lucide-react";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import type { Column } from "../../../ui/data-table.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { formatDate, formatRelative } from "../../../base/format.ts";
import { toast } from "../../../ui/toast.tsx";
import { InviteDialog } from "../invite-dialog.tsx";
import { text } from "../text.ts";
import type { Invite } from "../types.ts";
import { useAction, useAdminData } from "../api.ts";
import { confirmThen } from "../../../ui/confirm.tsx";
import { PagedTable, usePage } from "../paged-table.tsx";

const TONES = { open: "accent", used: "success", expired: "neutral" } as const;

/** Invitations, newest first, with buttons to create and revoke them. */
export function InvitesSection() {
  const [page, setPage] = usePage();
  const [isInviting, setIsInviting] = useState(false);
  const query = useAdminData("GET /api/admin/invites", { query: { page } });
  const revoke = useAction(
    (id: string) => request("DELETE", `/api/admin/invites/${id}`),
    () => toast({ text: text.revoked }),
  );
  const confirmRevoke = (id: string) =>
    confirmThen({ title: text.revokeTitle, body: text.revokeBody, action: text.revoke, danger: true }, () =>
      revoke.mutate(id),
    );
  const inviteButton = (
    <Button variant="primary" icon={MailPlus} onClick={() => setIsInviting(true)}>
      {text.newInvite}
    </Button>
  );
  return (
    <>
      <PagedTable
        query={query}
        rowsOf={({ invites }) => invites}
        empty={
          <EmptyState icon={MailPlus} title={text.noInvites} action={inviteButton}>
            {text.noInvitesHint}
          </EmptyState>
        }
        above={<div className="mb-3 flex justify-end">{inviteButton}</div>}
        caption={text.invites}
        columns={columns(confirmRevoke)}
        onPage={setPage}
      />
      {isInviting && <InviteDialog onClose={() => setIsInviting(false)} />}
    </>
  );
}

function columns(onRevoke: (id: string) => void): Column<Invite>[] {
  return [
    { key: "for", title: text.inviteFor, isHeader: true, cell: ({ email }) => email ?? text.anyone },
    {
      key: "state",
      title: text.state,
      cell: ({ state }) => <Badge tone={TONES[state]}>{text.inviteStates(state)}</Badge>,
    },
    { key: "role", title: text.role, cell: ({ role }) => text.roles(role) },
    { key: "plan", title: text.plan, cell: ({ plan }) => (plan === null ? text.defaultPlan : planName(plan)) },
    {
      key: "created",
      title: text.created,
      cell: ({ createdAt, createdBy }) => `${formatDate(createdAt)}${createdBy === null ? "" : `, ${createdBy}`}`,
    },
    { key: "expires", title: text.expires, cell: ({ expiresAt }) => formatRelative(expiresAt) },
    { key: "used", title: text.usedBy, cell: ({ usedBy }) => usedBy ?? "" },
    {
      key: "actions",
      title: text.actions,
      isTitleHidden: true,
      align: "end",
      cell: ({ id, state }) =>
        state === "open" && (
          <Button size="small" onClick={() => onRevoke(id)}>
            {text.revoke}
          </Button>
        ),
    },
  ];
}
