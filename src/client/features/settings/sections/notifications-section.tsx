import { useState } from "react";
import { messageOf } from "../../../api/http.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Switch } from "../../../ui/switch.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { type AccountSettings, CATEGORIES, type QuietHours, useChangeSettings, useResource } from "../api.ts";
import { Loaded } from "../loaded.tsx";
import { TimeZoneField } from "../time-zone-field.tsx";
import { text } from "../text.ts";

/** Notification categories and quiet hours. */
export function NotificationsSection() {
  const settings = useResource("settings");
  return (
    <Loaded query={settings}>
      {({ notifications }) => (
        <>
          <Categories notifications={notifications} />
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
  const change = useChangeSettings();
  const [busy, setBusy] = useState<string>();
  const set = async (category: (typeof CATEGORIES)[number], isOn: boolean) => {
    setBusy(category);
    try {
      await change({ notifications: { [category]: isOn } });
    } catch (error) {
      toast({ text: messageOf(error), tone: "danger" });
    } finally {
      setBusy(undefined);
    }
  };
  return (
    <Card title={text.notifications} description={text.notificationsLead}>
      <div className="flex flex-col gap-3">
        {CATEGORIES.map((category) => (
          <Switch
            key={category}
            label={text.categoryName(category)}
            hint={text.categoryHint(category)}
            checked={notifications[category]}
            disabled={busy === category}
            onChange={(isOn) => void set(category, isOn)}
          />
        ))}
      </div>
    </Card>
  );
}

function QuietHoursCard({ quietHours }: { quietHours: QuietHours }) {
  const change = useChangeSettings();
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [form, setForm] = useState<QuietHours>(
    // If no time zone was chosen yet, the browser's own is suggested.
    quietHours.enabled || quietHours.timezone !== "UTC" ? quietHours : { ...quietHours, timezone: here },
  );
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      await change({ notifications: { quietHours: form } });
      toast({ text: text.saved, tone: "success" });
    } catch (error) {
      toast({ text: messageOf(error), tone: "danger" });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={text.quietHours} description={text.quietHoursLead}>
      <form
        noValidate
        className="flex max-w-md flex-col items-start gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
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
        <Button type="submit" variant="primary" busy={isBusy}>
          {text.save}
        </Button>
      </form>
    </Card>
  );
}
