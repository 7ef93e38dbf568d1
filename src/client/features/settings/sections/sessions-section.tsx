import { Laptop, Smartphone, SquareTerminal } from "lucide-react";
import { useState } from "react";
import { messageOf, request } from "../../../api/http.ts";
import { useSignOut } from "../../../api/session.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { useConfirm } from "../../../ui/confirm.tsx";
import { formatDateTime, formatRelative } from "../../../base/format.ts";
import { toast } from "../../../ui/toast.tsx";
import { type SessionItem, useRefresh, useResource } from "../api.ts";
import { Loaded } from "../loaded.tsx";
import { type Row, Rows } from "../rows.tsx";
import { text } from "../text.ts";
import { agentName } from "../user-agent.ts";

const ICONS = { web: <Laptop />, mobile: <Smartphone />, cli: <SquareTerminal /> };

/** The account's sessions; each can be ended, or all others at once. */
export function SessionsSection() {
  const sessions = useResource("sessions");
  const refresh = useRefresh();
  const confirm = useConfirm();
  const signOut = useSignOut();
  const [ending, setEnding] = useState<ReadonlySet<string>>(new Set());

  const end = async (those: readonly SessionItem[]) => {
    setEnding(new Set(those.map(({ id }) => id)));
    const ended = await Promise.allSettled(those.map(({ id }) => request("DELETE", `/api/users/sessions/${id}`)));
    const failed = ended.find((each) => each.status === "rejected");
    if (failed === undefined) toast({ text: text.sessionsSignedOut(those.length), tone: "success" });
    else toast({ text: messageOf(failed.reason), tone: "danger" });
    await refresh("sessions", "devices");
    setEnding(new Set());
  };
  const endOthers = async (others: readonly SessionItem[]) => {
    const isSure = await confirm({
      title: text.signOutOthersTitle,
      body: text.signOutOthersLead(others.length),
      action: text.signOutOthers,
      danger: true,
    });
    if (isSure) await end(others);
  };
  const rowOf = (session: SessionItem): Row => {
    const name = session.device?.name ?? (session.kind === "cli" ? text.commandLine : agentName(session.userAgent));
    return {
      key: session.id,
      icon: ICONS[session.kind],
      title: (
        <>
          {name} {session.isCurrent && <Badge tone="success">{text.thisBrowser}</Badge>}
        </>
      ),
      lines: [
        session.isCurrent ? text.activeNow : text.lastActive(formatRelative(session.lastSeenAt)),
        [text.signedInAt(formatDateTime(session.createdAt)), session.clientAddress].filter(Boolean).join(" · "),
      ],
      actions: session.isCurrent ? (
        <Button onClick={() => void signOut()}>{text.signOut}</Button>
      ) : (
        <Button aria-label={text.signOutOf(name)} busy={ending.has(session.id)} onClick={() => void end([session])}>
          {text.signOut}
        </Button>
      ),
    };
  };
  return (
    <Loaded query={sessions}>
      {(data) => {
        const others = data.sessions.filter(({ isCurrent }) => !isCurrent);
        return (
          <Card
            title={text.sessions}
            description={text.sessionsLead}
            actions={
              others.length > 0 && (
                <Button variant="danger" onClick={() => void endOthers(others)}>
                  {text.signOutOthers}
                </Button>
              )
            }
          >
            <Rows label={text.sessions} rows={data.sessions.map(rowOf)} />
          </Card>
        );
      }}
    </Loaded>
  );
}
