import { Send } from "lucide-react";
import type { ResponseData } from "../../../api/generated.ts";
import { request } from "../../../api/http.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { toast } from "../../../ui/toast.tsx";
import { useAction } from "../api.ts";
import { FormField, type SettingsForm } from "./form-field.tsx";
import { text } from "./text.ts";

/** The mail server, with a test. */
export function MailCard({
  form,
  mail,
  isDirty,
}: {
  readonly form: SettingsForm;
  readonly mail: ResponseData["GET /api/admin/settings"]["mail"];
  /** Saved settings are tested, so a test makes no sense before. */
  readonly isDirty: boolean;
}) {
  const test = useAction(
    () =>
      request<ResponseData["POST /api/admin/settings/mail/test"]>("POST", "/api/admin/settings/mail/test", {
        body: {},
      }),
    ({ to, result }) =>
      toast({ text: text.testResults(result, { to }), tone: result === "sent" ? "success" : "danger" }),
  );
  const state = mail.problem ?? (mail.isReady ? text.mailReady : text.mailOff);
  return (
    <Card
      title={text.groups("mail")}
      description={text.groupHints("mail")}
      actions={
        <Button icon={Send} busy={test.isPending} disabled={!mail.isReady || isDirty} onClick={() => test.mutate()}>
          {text.testMail}
        </Button>
      }
    >
      <p className="mb-3 text-sm">{state}</p>
      <div className="grid gap-x-6 gap-y-4 md:grid-cols-2">
        {form.settings
          .filter(({ group, key }) => group === "mail" && (key !== "mail.user" || mail.hasPassword))
          .map((setting) => (
            <FormField key={setting.key} form={form} setting={setting} />
          ))}
      </div>
      <div className="mt-4">
        <Notice>{mail.hasPassword ? text.mailPasswordSet : text.mailPassword}</Notice>
      </div>
    </Card>
  );
}
