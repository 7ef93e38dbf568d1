import type { ReactNode } from "react";
import { findAgentName } from "../../../base/user-agent.ts";
import { request } from "../../../api/http.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { formatRelative } from "../../../base/format.ts";
import { confirmThen } from "../../../ui/confirm.tsx";
import { toast } from "../../../ui/toast.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { text } from "../text.ts";
import type { Account, AccountSession, AppPassword } from "../types.ts";
import { useAction, useAdminData } from "../api.ts";
import { nameOf } from "./user-columns.tsx";

/** The sessions, devices and app passwords of an account, with a button to end each. */
export function AccessDialog({ account, onClose }: { readonly account: Account; readonly onClose: () => void }) {
  const base = `/api/admin/users/${account.id}` as const;
  const sessions = useAdminData("GET /api/admin/users/{id}/sessions", { id: account.id });
  const devices = useAdminData("GET /api/admin/users/{id}/devices", { id: account.id });
  const end = useAction((id: string) => request("DELETE", `${base}/sessions/${id}`));
  const endAll = useAction(
    () => request("DELETE", `${base}/sessions`),
    () => toast({ text: text.endedAll }),
  );
  const remove = useAction((id: string) => request("DELETE", `${base}/devices/${encodeURIComponent(id)}`));
  return (
    <Dialog
      open
      size="medium"
      onClose={onClose}
      title={text.sessionsTitle({ name: nameOf(account) })}
      footer={
        <>
          <Button variant="danger" busy={endAll.isPending} onClick={() => endAll.mutate()}>
            {text.endAllSessions}
          </Button>
          <Button onClick={onClose}>{text.close}</Button>
        </>
      }
    >
      <h3 className="mb-1 font-medium">{text.sessionsHeading}</h3>
      <Loaded query={sessions}>
        {({ sessions: list }) => (
          <Rows
            empty={text.noSessions}
            rows={list.map((session) => ({
              id: session.id,
              name: describe(session),
              detail: text.lastSeen({ when: formatRelative(session.lastSeenAt) }),
              action: text.endSession,
              label: text.endSessionOf({ what: describe(session) }),
              run: () => end.mutate(session.id),
            }))}
          />
        )}
      </Loaded>
      <h3 className="mt-5 mb-1 font-medium">{text.devicesHeading}</h3>
      <Loaded query={devices}>
        {({ devices: list }) => (
          <Rows
            empty={text.noDevices}
            rows={list.map((device) => ({
              id: device.id,
              name: device.name,
              detail: device.platform,
              action: text.removeDevice,
              label: text.removeDeviceOf({ what: device.name }),
              run: () => remove.mutate(device.id),
            }))}
          />
        )}
      </Loaded>
      <AppPasswords account={account} />
    </Dialog>
  );
}

function AppPasswords({ account }: { readonly account: Account }) {
  const passwords = useAdminData("GET /api/admin/users/{id}/app-passwords", { id: account.id });
  const end = useAction((id: string) => request("DELETE", `/api/admin/users/${account.id}/app-passwords/${id}`));
  return (
    <>
      <h3 className="mt-5 mb-1 font-medium">{text.appPasswordsHeading}</h3>
      <Loaded query={passwords}>
        {({ appPasswords: list }) => (
          <Rows
            empty={text.noAppPasswords}
            rows={list.map((password) => ({
              id: password.id,
              name: password.name,
              detail: describeAppPassword(password),
              action: text.endAppPassword,
              label: text.endAppPasswordOf({ name: password.name }),
              run: () =>
                confirmThen(
                  {
                    title: text.endAppPasswordTitle({ name: password.name }),
                    body: text.endAppPasswordBody,
                    action: text.endAppPasswordAction,
                    danger: true,
                  },
                  () => end.mutate(password.id),
                ),
            }))}
          />
        )}
      </Loaded>
    </>
  );
}

function describeAppPassword({ access, expiresAt, lastUsedAt, lastAddress }: AppPassword): string {
  return [
    expiresAt !== null && Date.parse(expiresAt) <= Date.now() && text.expired,
    access === "read" && text.readOnly,
    describeUse(lastUsedAt, lastAddress),
  ]
    .filter(Boolean)
    .join(", ");
}

function describe({ device, userAgent, kind, clientAddress }: AccountSession): string {
  return [device?.name ?? findAgentName(userAgent) ?? userAgent ?? text.viaNames(kind), clientAddress]
    .filter(Boolean)
    .join(", ");
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly detail: ReactNode;
  readonly action: string;
  readonly label: string;
  readonly run: () => void;
}

function Rows({ rows, empty }: { readonly rows: readonly Row[]; readonly empty: string }) {
  if (rows.length === 0) return <p className="text-sm text-muted">{empty}</p>;
  return (
    <ul className="text-sm">
      {rows.map(({ id, name, detail, action, label, run }) => (
        <li key={id} className="flex items-center justify-between gap-4 border-b border-line py-2 last:border-b-0">
          <span className="min-w-0">
            <span className="block break-words">{name}</span>
            <span className="block text-muted">{detail}</span>
          </span>
          <Button size="small" aria-label={label} onClick={run}>
            {action}
          </Button>
        </li>
      ))}
    </ul>
  );
}

function describeUse(lastUsedAt: string | null, address: string | null): string {
  if (lastUsedAt === null) return text.neverUsed;
  const when = formatRelative(lastUsedAt);
  return address === null ? text.lastUsed({ when }) : text.lastUsedFrom({ when, address });
}
