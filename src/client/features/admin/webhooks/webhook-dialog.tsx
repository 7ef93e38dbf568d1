import { useState } from "react";
import { request } from "../../../api/http.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { AdminDialog } from "../admin-dialog.tsx";
import { text } from "../text.ts";
import { type Webhook, WEBHOOK_EVENTS, type WebhookWithSecret } from "../types.ts";
import { withMember } from "../../../base/sets.ts";

/** The address and events of a webhook; creates a new one if none is given. */
export function WebhookDialog({
  webhook,
  onClose,
  onCreated,
}: {
  readonly webhook?: Webhook;
  readonly onClose: () => void;
  readonly onCreated: (webhook: WebhookWithSecret) => void;
}) {
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [events, setEvents] = useState<ReadonlySet<string>>(() => new Set(webhook?.events ?? ["file.created"]));
  const body = () => ({ url: url.trim(), events: WEBHOOK_EVENTS.filter((event) => events.has(event)) });
  const save = async () => {
    if (webhook === undefined) {
      onCreated(await request<WebhookWithSecret>("POST", "/api/webhooks", { body: body() }));
      return;
    }
    await request("PATCH", `/api/webhooks/${webhook.id}`, { body: body() });
    toast({ text: text.saved, tone: "success" });
  };
  return (
    <AdminDialog
      size="medium"
      title={webhook === undefined ? text.createWebhook : text.editWebhook}
      action={webhook === undefined ? text.createWebhook : text.save}
      isDisabled={url.trim() === "" || events.size === 0}
      run={save}
      onClose={onClose}
    >
      <TextField
        label={text.webhookUrl}
        hint={text.webhookUrlHint}
        type="url"
        required
        autoComplete="off"
        placeholder="https://"
        value={url}
        onChange={setUrl}
      />
      <fieldset>
        <legend className="mb-1 text-sm font-medium">{text.webhookEvents}</legend>
        <div className="grid gap-x-4 sm:grid-cols-2">
          {WEBHOOK_EVENTS.map((event) => (
            <Checkbox
              key={event}
              label={event}
              checked={events.has(event)}
              onChange={(isSelected) => setEvents(withMember(events, event, isSelected))}
            />
          ))}
        </div>
        {events.size === 0 && <p className="mt-1 text-sm text-danger">{text.webhookEventsMissing}</p>}
      </fieldset>
    </AdminDialog>
  );
}
