import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Switch } from "../../../ui/switch.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { toast, showError } from "../../../ui/toast.tsx";
import { type AccountSettings, CATEGORIES, type QuietHours, useChangeSettings, useResource } from "../api.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { BrowserPushCard } from "./browser-push-card.tsx";
import { TimeZoneField } from "../time-zone-field.tsx";
import { text } from "../text.ts";
import { Form } from "../../../ui/form.tsx";

/** Notification categories and quiet hours. */
export function NotificationsSection() {
  const settings = useResource("settings");
  return (
    <Loaded query={settings}>
      {({ notifications }) => (
        <>
          <Categories notifications={notifications} />
          <BrowserPushCard />
          <QuietHoursCard quietHours={notifications.quietHours} />
          <Card title={text.inbox} description={text.inboxLead}>
            <p className="text-sm text-muted">{text.channels}</p>
          </Card>
        </>
      )}
    </Loaded>
  );
}

function Categories({ notifications }: { notifications: AccountSettings["notifications"] }) {
  const change = useMutation({
    mutationFn: useChangeSettings(),
    onError: showError,
  });
  const busy = change.isPending ? change.variables.notifications : undefined;
  return (
    <Card title={text.notifications} description={text.notificationsLead}>
      <div className="flex flex-col gap-3">
        {CATEGORIES.map((category) => (
          <Switch
            key={category}
            label={text.categoryNames(category)}
            hint={text.categoryHints(category, "")}
            checked={notifications[category]}
            disabled={busy?.[category] !== undefined}
            onChange={(isOn) => change.mutate({ notifications: { [category]: isOn } })}
          />
        ))}
      </div>
    </Card>
  );
}

function QuietHoursCard({ quietHours }: { quietHours: QuietHours }) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [form, setForm] = useState<QuietHours>(
    // If no time zone was chosen yet, the browser's own is suggested.
    quietHours.enabled || quietHours.timezone !== "UTC" ? quietHours : { ...quietHours, timezone: here },
  );
  const save = useMutation({
    mutationFn: useChangeSettings(),
    onSuccess: () => toast({ text: text.saved, tone: "success" }),
    onError: showError,
  });
  return (
    <Card title={text.quietHours} description={text.quietHoursLead}>
      <Form
        noValidate
        className="flex max-w-md flex-col items-start gap-4"
        onSubmit={() => save.mutate({ notifications: { quietHours: form } })}
      >
        <Switch
          label={text.quietHoursOn}
          checked={form.enabled}
          onChange={(enabled) => setForm({ ...form, enabled })}
        />
        <div className="grid w-full grid-cols-2 gap-4">
          <TextField
            label={text.from}
            type="time"
            value={form.start}
            disabled={!form.enabled}
            onChange={(start) => setForm({ ...form, start })}
          />
          <TextField
            label={text.until}
            type="time"
            value={form.end}
            disabled={!form.enabled}
            onChange={(end) => setForm({ ...form, end })}
          />
        </div>
        <TimeZoneField
          value={form.timezone}
          disabled={!form.enabled}
          onChange={(timezone) => setForm({ ...form, timezone })}
        />
        <Button type="submit" variant="primary" busy={save.isPending}>
          {text.save}
        </Button>
      </Form>
    </Card>
  );
}
