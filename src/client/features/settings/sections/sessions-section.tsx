import { Laptop, Smartphone, SquareTerminal } from "lucide-react";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { formatDateTime, formatRelative } from "../../../base/format.ts";
import { toast, showError } from "../../../ui/toast.tsx";
import { type SessionItem, useRefresh, useList } from "../api.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { type Row, Rows } from "../rows.tsx";
import { text } from "../text.ts";
import { agentName } from "../../../base/user-agent.ts";
import { confirmThen } from "../../../ui/confirm.tsx";
import { signOut } from "../../../api/session.ts";

const ICONS = { web: <Laptop />, mobile: <Smartphone />, cli: <SquareTerminal /> };

/** The account's sessions; each can be ended, or all others at once. */
export function SessionsSection() {
  const sessions = useList("sessions");
  const refresh = useRefresh();
  const [ending, setEnding] = useState<ReadonlySet<string>>(new Set());

  const end = async (sessionsToEnd: readonly SessionItem[]) => {
    setEnding(new Set(sessionsToEnd.map(({ id }) => id)));
    const ended = await Promise.allSettled(
      sessionsToEnd.map(({ id }) => request("DELETE", `/api/users/sessions/${id}`)),
    );
    const failed = ended.find((each) => each.status === "rejected");
    if (failed === undefined) toast({ text: text.sessionsSignedOut({ count: sessionsToEnd.length }), tone: "success" });
    else showError(failed.reason);
    await refresh("sessions", "devices");
    setEnding(new Set());
  };
  const endOthers = (others: readonly SessionItem[]) =>
    confirmThen(
      {
        title: text.signOutOthersTitle,
        body: text.signOutOthersLead({ count: others.length }),
        action: text.signOutOthers,
        danger: true,
      },
      () => void end(others),
    );
  return (
    <Loaded query={sessions}>
      {(items) => {
        const others = items.filter(({ isCurrent }) => !isCurrent);
        return (
          <Card
            title={text.sessions}
            description={text.sessionsLead}
            actions={
              others.length > 0 && (
                <Button variant="danger" onClick={() => endOthers(others)}>
                  {text.signOutOthers}
                </Button>
              )
            }
          >
            <Rows
              label={text.sessions}
              rows={items.map((session) => rowOf(session, ending.has(session.id), () => void end([session])))}
            />
          </Card>
        );
      }}
    </Loaded>
  );
}

function rowOf(session: SessionItem, isEnding: boolean, onEnd: () => void): Row {
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
      session.isCurrent ? text.activeNow : text.lastActive({ when: formatRelative(session.lastSeenAt) }),
      [text.signedInAt({ time: formatDateTime(session.createdAt) }), session.clientAddress].filter(Boolean).join(" · "),
    ],
    actions: session.isCurrent ? (
      <Button onClick={() => void signOut()}>{text.signOut}</Button>
    ) : (
      <Button aria-label={text.signOutOf({ name })} busy={isEnding} onClick={onEnd}>
        {text.signOut}
      </Button>
    ),
  };
}
