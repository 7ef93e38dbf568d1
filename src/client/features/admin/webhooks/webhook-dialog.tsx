import { useState } from "react";
import { request } from "../../../api/http.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { FormDialog } from "../form-dialog.tsx";
import { text } from "../text.ts";
import { type Webhook, WEBHOOK_EVENTS, type WebhookWithSecret } from "../types.ts";
import { showNothing, useAction } from "../use-action.ts";

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
  const save = useAction(
    async () => {
      if (webhook === undefined) return await request<WebhookWithSecret>("POST", "/api/webhooks", { body: body() });
      await request("PATCH", `/api/webhooks/${webhook.id}`, { body: body() });
      return undefined;
    },
    (created) => {
      if (created !== undefined) return onCreated(created);
      toast({ text: text.saved, tone: "success" });
      onClose();
    },
    showNothing,
  );
  const toggle = (event: string, isSelected: boolean) => {
    const next = new Set(events);
    if (isSelected) next.add(event);
    else next.delete(event);
    setEvents(next);
  };
  return (
    <FormDialog
      size="medium"
      title={webhook === undefined ? text.createWebhook : text.editWebhook}
      action={webhook === undefined ? text.createWebhook : text.save}
      isBusy={save.isPending}
      isDisabled={url.trim() === "" || events.size === 0}
      error={save.error}
      onSubmit={() => save.mutate()}
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
              onChange={(isSelected) => toggle(event, isSelected)}
            />
          ))}
        </div>
        {events.size === 0 && <p className="mt-1 text-sm text-danger">{text.webhookEventsMissing}</p>}
      </fieldset>
    </FormDialog>
  );
}
