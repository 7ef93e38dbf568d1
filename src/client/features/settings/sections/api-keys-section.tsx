import { Key } from "lucide-react";
import { Plus, Trash2 } from "../../../ui/icons.ts";
import { useState } from "react";
import { messageOf, request } from "../../../api/http.ts";
import { useSession } from "../../../api/session.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { useConfirm } from "../../../ui/confirm.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { formatDate, formatRelative } from "../../../base/format.ts";
import { IconButton } from "../../../ui/icon-button.tsx";
import { toast } from "../../../ui/toast.tsx";
import { type ApiKey, useRefresh, useResource } from "../api.ts";
import { Loaded } from "../loaded.tsx";
import { NewKeyDialog } from "../new-key-dialog.tsx";
import { type Row, Rows } from "../rows.tsx";
import { text } from "../text.ts";

/** API keys: create, list and delete. */
export function ApiKeysSection() {
  const { user } = useSession();
  const keys = useResource("apiKeys");
  const refresh = useRefresh();
  const confirm = useConfirm();
  const [isCreating, setCreating] = useState(false);
  const mayMake = user.role !== "viewer";

  const remove = async (key: ApiKey) => {
    const isSure = await confirm({
      title: text.deleteKeyTitle(key.name),
      body: text.deleteKeyLead,
      action: text.delete,
      danger: true,
    });
    if (!isSure) return;
    try {
      await request("DELETE", `/api/users/api-keys/${key.id}`);
      toast({ text: text.keyDeleted, tone: "success" });
    } catch (error) {
      toast({ text: messageOf(error), tone: "danger" });
    }
    await refresh("apiKeys");
  };
  const rowOf = (key: ApiKey): Row => {
    const isOver = key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.now();
    return {
      key: key.id,
      icon: <Key />,
      title: (
        <>
          {key.name} {isOver && <Badge tone="danger">{text.expired}</Badge>}
        </>
      ),
      lines: [
        `${key.prefix}… · ${key.scopes.map((scope) => text.scopeName(scope)).join(", ")}`,
        [
          key.lastUsedAt === null ? text.neverUsed : text.lastUsed(formatRelative(key.lastUsedAt)),
          key.expiresAt === null ? text.neverExpires : text.expiresAt(formatDate(key.expiresAt)),
        ].join(" · "),
      ],
      actions: <IconButton label={text.deleteKey(key.name)} icon={Trash2} onClick={() => void remove(key)} />,
    };
  };
  return (
    <Card
      title={text.apiKeys}
      description={text.apiKeysLead}
      actions={
        mayMake && (
          <Button variant="primary" icon={Plus} onClick={() => setCreating(true)}>
            {text.newKey}
          </Button>
        )
      }
    >
      {!mayMake && <p className="mb-3 text-sm text-muted">{text.keysNotForViewers}</p>}
      <Loaded query={keys}>
        {(data) =>
          data.apiKeys.length === 0 ? (
            <EmptyState icon={Key} title={text.noKeys}>
              {text.noKeysLead}
            </EmptyState>
          ) : (
            <Rows label={text.apiKeys} rows={data.apiKeys.map(rowOf)} />
          )
        }
      </Loaded>
      {isCreating && (
        <NewKeyDialog
          isAdmin={user.role === "admin"}
          onClose={() => setCreating(false)}
          onCreated={() => void refresh("apiKeys")}
        />
      )}
    </Card>
  );
}
