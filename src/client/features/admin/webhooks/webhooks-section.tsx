import { KeyRound, ListChecks, Pause, Pencil, Play, Send, Webhook as WebhookIcon } from "lucide-react";
import { Plus, Trash2 } from "../../../ui/icons.ts";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { toast } from "../../../ui/toast.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { text } from "../text.ts";
import type { Delivery, Webhook, WebhookWithSecret } from "../types.ts";
import { useAction, useAdminData } from "../api.ts";
import { DeliveriesDialog } from "./deliveries-dialog.tsx";
import { WebhookDialog } from "./webhook-dialog.tsx";
import { CopyDialog } from "../../../ui/copy-dialog.tsx";
import { confirmThen } from "../../../ui/confirm.tsx";
import { MoreMenu } from "../../../ui/more-menu.tsx";

/** The account's webhooks: create, test, edit, renew the secret, list deliveries. */
export function WebhooksSection() {
  const [edited, setEdited] = useState<Webhook | "new">();
  const [secret, setSecret] = useState<string>();
  const [listed, setListed] = useState<Webhook>();
  const query = useAdminData("GET /api/webhooks");
  const add = (
    <Button variant="primary" icon={Plus} onClick={() => setEdited("new")}>
      {text.createWebhook}
    </Button>
  );
  return (
    <>
      <p className="mb-4 max-w-3xl text-sm text-muted">{text.webhooksHint}</p>
      <Loaded query={query}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <EmptyState icon={WebhookIcon} title={text.noWebhooks} action={add} />
          ) : (
            <>
              <div className="mb-3 flex justify-end">{add}</div>
              <ul className="flex flex-col gap-3">
                {webhooks.map((webhook) => (
                  <li key={webhook.id}>
                    <WebhookCard
                      webhook={webhook}
                      onEdit={() => setEdited(webhook)}
                      onSecret={setSecret}
                      onWatch={() => setListed(webhook)}
                    />
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
      {edited !== undefined && (
        <WebhookDialog
          {...(edited !== "new" && { webhook: edited })}
          onClose={() => setEdited(undefined)}
          onCreated={(created) => {
            setEdited(undefined);
            setSecret(created.secret);
          }}
        />
      )}
      {secret !== undefined && (
        <CopyDialog
          title={text.webhookReady}
          description={text.webhookSecretHint}
          label={text.webhookSecret}
          value={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
      {listed !== undefined && <DeliveriesDialog webhook={listed} onClose={() => setListed(undefined)} />}
    </>
  );
}

function WebhookCard({
  webhook,
  onEdit,
  onSecret,
  onWatch,
}: {
  readonly webhook: Webhook;
  readonly onEdit: () => void;
  readonly onSecret: (secret: string) => void;
  readonly onWatch: () => void;
}) {
  const { id, url, events, active } = webhook;
  const path = `/api/webhooks/${id}` as const;
  const test = useAction(
    () => request<Delivery>("POST", `${path}/test`),
    ({ status }) =>
      status === "delivered"
        ? toast({ text: text.testDelivered, tone: "success" })
        : toast({ text: text.testFailed, tone: "danger" }),
  );
  const setActive = useAction((isActive: boolean) => request("PATCH", path, { body: { active: isActive } }));
  const renew = useAction(
    () => request<WebhookWithSecret>("POST", `${path}/secret`),
    (renewed) => onSecret(renewed.secret),
  );
  const remove = useAction(
    () => request("DELETE", path),
    () => toast({ text: text.webhookDeleted }),
  );
  const confirmRenewal = () =>
    confirmThen({ title: text.renewSecretTitle, body: text.renewSecretBody, action: text.renewSecret }, renew.mutate);
  const confirmRemoval = () => {
    const body = text.deleteWebhookBody({ url });
    confirmThen({ title: text.deleteWebhookTitle, body, action: text.delete, danger: true }, remove.mutate);
  };
  return (
    <Card
      title={url}
      actions={
        <>
          <Button size="small" icon={Send} busy={test.isPending} onClick={() => test.mutate()}>
            {text.sendTest}
          </Button>
          <MoreMenu
            label={text.actionsFor({ name: url })}
            items={[
              { label: text.edit, icon: Pencil, run: onEdit },
              { label: text.deliveries, icon: ListChecks, run: onWatch },
              active
                ? { label: text.pause, icon: Pause, run: () => setActive.mutate(false) }
                : { label: text.resume, icon: Play, run: () => setActive.mutate(true) },
              { label: text.renewSecret, icon: KeyRound, run: confirmRenewal },
              null,
              { label: text.delete, icon: Trash2, danger: true, run: confirmRemoval },
            ]}
          />
        </>
      }
    >
      <p className="flex flex-wrap gap-1.5">
        <State webhook={webhook} />
        {events.map((event) => (
          <Badge key={event}>{event}</Badge>
        ))}
      </p>
    </Card>
  );
}

function State({ webhook: { active, stoppedBecause, failures, waiting } }: { readonly webhook: Webhook }) {
  return (
    <>
      {stoppedBecause === null ? (
        <Badge tone={active ? "success" : "warning"}>{active ? text.webhookActive : text.webhookPaused}</Badge>
      ) : (
        <Badge tone="danger">{text.webhookStopped({ why: stoppedBecause })}</Badge>
      )}
      {failures > 0 && <Badge tone="warning">{text.webhookFailures({ n: failures })}</Badge>}
      {waiting > 0 && <Badge tone="accent">{text.webhookQueued({ n: waiting })}</Badge>}
    </>
  );
}
