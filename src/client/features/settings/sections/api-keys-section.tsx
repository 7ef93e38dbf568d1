import { Key } from "lucide-react";
import { Plus, Trash2 } from "../../../ui/icons.ts";
import { useState } from "react";
import { useSession } from "../../../api/session.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { formatDate, formatRelative } from "../../../base/format.ts";
import { IconButton } from "../../../ui/icon-button.tsx";
import { type ApiKey, useRefresh, useDelete, useList } from "../api.ts";
import { NewKeyDialog } from "../new-key-dialog.tsx";
import { type Row, Rows } from "../rows.tsx";
import { text } from "../text.ts";
import { LoadedList } from "../../../ui/loaded.tsx";

/** API keys: create, list and delete. */
export function ApiKeysSection() {
  const { role } = useSession().user;
  const keys = useList("apiKeys");
  const refresh = useRefresh();
  const deleteThen = useDelete("apiKeys");
  const [isCreating, setCreating] = useState(false);
  const canCreate = role !== "viewer";
  const remove = (key: ApiKey) =>
    deleteThen(
      `/api/users/api-keys/${key.id}`,
      { title: text.deleteKeyTitle({ name: key.name }), body: text.deleteKeyLead, action: text.delete },
      text.keyDeleted,
    );
  return (
    <Card
      title={text.apiKeys}
      description={text.apiKeysLead}
      actions={
        canCreate && (
          <Button variant="primary" icon={Plus} onClick={() => setCreating(true)}>
            {text.newKey}
          </Button>
        )
      }
    >
      {!canCreate && <p className="mb-3 text-sm text-muted">{text.keysNotForViewers}</p>}
      <LoadedList
        query={keys}
        empty={
          <EmptyState icon={Key} title={text.noKeys}>
            {text.noKeysLead}
          </EmptyState>
        }
      >
        {(items) => <Rows label={text.apiKeys} rows={items.map((key) => rowOf(key, () => void remove(key)))} />}
      </LoadedList>
      {isCreating && (
        <NewKeyDialog
          isAdmin={role === "admin"}
          onClose={() => setCreating(false)}
          onCreated={() => void refresh("apiKeys")}
        />
      )}
    </Card>
  );
}

function rowOf(key: ApiKey, onRemove: () => void): Row {
  const isExpired = key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.now();
  return {
    key: key.id,
    icon: <Key />,
    title: (
      <>
        {key.name} {isExpired && <Badge tone="danger">{text.expired}</Badge>}
      </>
    ),
    lines: [
      `${key.prefix}… · ${key.scopes.map((scope) => text.scopeName(scope)).join(", ")}`,
      [
        key.lastUsedAt === null ? text.neverUsed : text.lastUsed({ when: formatRelative(key.lastUsedAt) }),
        key.expiresAt === null ? text.neverExpires : text.expiresAt({ date: formatDate(key.expiresAt) }),
      ].join(" · "),
    ],
    actions: <IconButton label={text.deleteKey({ name: key.name })} icon={Trash2} onClick={onRemove} />,
  };
}
