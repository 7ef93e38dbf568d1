import { KeyRound } from "lucide-react";
import { formatDate, formatRelative } from "../../../base/format.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { IconButton } from "../../../ui/icon-button.tsx";
import { Trash2 } from "../../../ui/icons.ts";
import { LoadedList } from "../../../ui/loaded.tsx";
import { type AppPassword, useAppPasswords, useDelete } from "../api.ts";
import { type Row, Rows } from "../rows.tsx";
import { text as settingsText } from "../text.ts";
import { findAgentName } from "../../../base/user-agent.ts";
import { text } from "./text.ts";

/** The app passwords of the account, with a button to end each. */
export function AppPasswordsCard() {
  const passwords = useAppPasswords();
  const end = useEndAppPassword();
  return (
    <Card title={text.passwords} description={text.passwordsLead}>
      <LoadedList
        query={passwords}
        empty={
          <EmptyState icon={KeyRound} title={text.noPasswords}>
            {text.noPasswordsLead}
          </EmptyState>
        }
      >
        {(items) => <Rows label={text.passwords} rows={items.map((item) => rowOf(item, () => void end(item)))} />}
      </LoadedList>
    </Card>
  );
}

/** Returns a function that ends an app password after a confirmation. */
export function useEndAppPassword(): (password: AppPassword) => Promise<void> {
  const deleteThen = useDelete("appPasswords");
  return ({ id, name }) =>
    deleteThen(
      `/api/users/app-passwords/${id}`,
      { title: text.endTitle({ name }), body: text.endLead, action: text.endAction },
      text.ended,
    );
}

/** The name of an app password, with a mark if it has expired. */
export function AppPasswordName({ password: { name, expiresAt } }: { readonly password: AppPassword }) {
  return (
    <>
      {name} {hasExpired(expiresAt) && <Badge tone="danger">{settingsText.expired}</Badge>}
    </>
  );
}

function hasExpired(expiresAt: string | null): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now();
}

/** What an app password may see and do, in one line. */
export function describeAccess({ access, folder }: AppPassword): string {
  const files =
    typeof folder !== "string" ? text.folderGone : folder === "/" ? text.allFiles : text.onlyFolder({ folder });
  return `${text.access({ access })}, ${files}`;
}

/** When, by which program and from where an app password was last used. */
export function describeUse({ lastUsedAt, lastClient, lastAddress }: AppPassword): string {
  if (lastUsedAt === null) return settingsText.neverUsed;
  const when = formatRelative(lastUsedAt);
  const program = findAgentName(lastClient);
  if (program === undefined) {
    return lastAddress === null ? text.lastUsed({ when }) : text.lastUsedFrom({ when, address: lastAddress });
  }
  return lastAddress === null
    ? text.lastUsedBy({ when, program })
    : text.lastUsedByFrom({ when, program, address: lastAddress });
}

function rowOf(password: AppPassword, onEnd: () => void): Row {
  const { id, name, createdAt, expiresAt } = password;
  return {
    key: id,
    icon: <KeyRound />,
    title: <AppPasswordName password={password} />,
    lines: [
      describeAccess(password),
      describeUse(password),
      [text.createdAt({ date: formatDate(createdAt) }), describeExpiry(expiresAt)].filter(Boolean).join(" · "),
    ],
    actions: <IconButton label={text.end({ name })} icon={Trash2} onClick={onEnd} />,
  };
}

function describeExpiry(expiresAt: string | null): string {
  if (expiresAt === null) return "";
  const date = formatDate(expiresAt);
  return hasExpired(expiresAt) ? text.expiredAt({ date }) : settingsText.expiresAt({ date });
}
