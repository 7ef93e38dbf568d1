import { useQuery } from "@tanstack/react-query";
import { MailPlus } from "lucide-react";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { keys } from "../../../api/queries.ts";
import type { Pagination } from "../../../api/types.ts";
import { useSetTextSearch, useTextSearch } from "../../../base/search-params.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { useConfirm } from "../../../ui/confirm.tsx";
import { type Column, DataTable } from "../../../ui/data-table.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { formatDate, formatRelative } from "../../../base/format.ts";
import { toast } from "../../../ui/toast.tsx";
import { InviteDialog } from "../invite-dialog.tsx";
import { Loaded } from "../loaded.tsx";
import { Pager } from "../pager.tsx";
import { text } from "../text.ts";
import type { Invite } from "../types.ts";
import { useAction } from "../use-action.ts";

const TONES = { open: "accent", used: "success", expired: "neutral" } as const;

/** Invitations, newest first, with buttons to create and revoke them. */
export function InvitesSection() {
  const page = Number(useTextSearch()["page"] ?? 1) || 1;
  const setSearch = useSetTextSearch();
  const confirm = useConfirm();
  const [isInviting, setIsInviting] = useState(false);
  const query = useQuery({
    queryKey: keys.admin("invites", page),
    queryFn: ({ signal }) =>
      request<{ invites: readonly Invite[]; pagination: Pagination }>("GET", "/api/admin/invites", {
        query: { page },
        signal,
      }),
  });
  const revoke = useAction(
    (id: string) => request("DELETE", `/api/admin/invites/${id}`),
    () => toast({ text: text.revoked }),
  );
  const confirmRevoke = async (id: string) => {
    const isSure = await confirm({
      title: text.revokeTitle,
      body: text.revokeBody,
      action: text.revoke,
      danger: true,
    });
    if (isSure) revoke.mutate(id);
  };
  const inviteButton = (
    <Button variant="primary" icon={MailPlus} onClick={() => setIsInviting(true)}>
      {text.newInvite}
    </Button>
  );
  return (
    <>
      <Loaded query={query}>
        {({ invites, pagination }) =>
          invites.length === 0 ? (
            <EmptyState icon={MailPlus} title={text.noInvites} action={inviteButton}>
              {text.noInvitesHint}
            </EmptyState>
          ) : (
            <>
              <div className="mb-3 flex justify-end">{inviteButton}</div>
              <DataTable
                caption={text.invites}
                columns={columns((id) => void confirmRevoke(id))}
                rows={invites}
                rowKey={({ id }) => id}
              />
              <Pager pagination={pagination} onPage={(to) => setSearch({ page: String(to) }, { push: true })} />
            </>
          )
        }
      </Loaded>
      {isInviting && <InviteDialog onClose={() => setIsInviting(false)} />}
    </>
  );
}

function columns(onTakeBack: (id: string) => void): Column<Invite>[] {
  return [
    { key: "for", title: text.inviteFor, isHeader: true, cell: ({ email }) => email ?? text.anyone },
    {
      key: "state",
      title: text.state,
      cell: ({ state }) => <Badge tone={TONES[state]}>{text.inviteStates(state)}</Badge>,
    },
    { key: "role", title: text.role, cell: ({ role }) => text.roles(role) },
    { key: "plan", title: text.plan, cell: ({ plan }) => (plan === null ? text.defaultPlan : text.planNames(plan)) },
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
          <Button size="small" onClick={() => onTakeBack(id)}>
            {text.revoke}
          </Button>
        ),
    },
  ];
}
