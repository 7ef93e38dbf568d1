import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { PasswordField } from "../../../ui/password-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { errorAt, readRejection } from "../../../api/rejection.ts";
import { useRetryWait } from "../../../ui/use-retry-wait.ts";
import { PasswordStrength } from "../../../ui/password-strength.tsx";
import { useRefresh } from "../api.ts";
import { text } from "../text.ts";
import { Form } from "../../../ui/form.tsx";
import { FormRejection } from "../../../ui/rejection-message.tsx";

/** Changes the password, which ends all other sessions. */
export function PasswordCard() {
  const [next, setNext] = useState("");
  const [endsKeys, setEndsKeys] = useState(false);
  const refresh = useRefresh();
  const save = useMutation({
    mutationFn: () => request("PUT", "/api/users/profile", { body: { newPassword: next, endKeys: endsKeys } }),
    onSuccess: async () => {
      setNext("");
      setEndsKeys(false);
      toast({ text: text.passwordChanged, tone: "success" });
      await refresh("sessions", "apiKeys", "appPasswords");
    },
  });
  const rejection = readRejection(save.error, ["newPassword"]);
  const wait = useRetryWait(save.error);
  const submit = () => {
    if (wait.secondsLeft === 0) save.mutate();
  };
  return (
    <Card title={text.password} description={text.passwordLead}>
      <Form noValidate onSubmit={submit} className="flex max-w-md flex-col gap-4">
        <FormRejection rejection={rejection} wait={wait} />
        <PasswordField
          label={text.newPassword}
          value={next}
          onChange={setNext}
          error={errorAt(rejection, "newPassword")}
          autoComplete="new-password"
        />
        <PasswordStrength password={next} />
        <Checkbox label={text.endKeys} hint={text.endKeysHint} checked={endsKeys} onChange={setEndsKeys} />
        <div>
          <Button type="submit" variant="primary" busy={save.isPending} disabled={next === "" || wait.secondsLeft > 0}>
            {text.changePassword}
          </Button>
        </div>
      </Form>
    </Card>
  );
}
