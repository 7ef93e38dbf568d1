import { readRejection } from "../../api/rejection.ts";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { requestPasswordLink } from "../../api/sign-in.ts";
import { Notice } from "../../ui/notice.tsx";
import { text } from "./text.ts";
import { useRetryWait } from "../../ui/use-retry-wait.ts";
import { Form } from "../../ui/form.tsx";
import { FormRejection } from "../../ui/rejection-message.tsx";

/** Requests a password reset link. The response does not reveal whether the account exists. */
export function ForgotStep(props: { email: string; onBack(): void }) {
  const [email, setEmail] = useState(props.email);
  const [isMissing, setMissing] = useState(false);
  const send = useMutation({ mutationFn: requestPasswordLink });
  const wait = useRetryWait(send.error);
  const submit = () => {
    setMissing(email.trim() === "");
    if (email.trim() !== "" && wait.secondsLeft === 0) send.mutate(email.trim());
  };
  if (send.data !== undefined) {
    return (
      <div className="flex flex-col gap-4">
        <h2 className="font-semibold">{text.forgotDone}</h2>
        <Notice tone="success">{send.data}</Notice>
        <Button variant="secondary" onClick={props.onBack}>
          {text.back}
        </Button>
      </div>
    );
  }
  return (
    <Form noValidate onSubmit={submit} className="flex flex-col gap-4">
      <h2 className="font-semibold">{text.forgotTitle}</h2>
      <p className="text-sm text-muted">{text.forgotLead}</p>
      <FormRejection rejection={readRejection(send.error, [])} wait={wait} />
      <TextField
        label={text.email}
        type="email"
        value={email}
        onChange={setEmail}
        error={isMissing ? text.emailMissing : undefined}
        autoComplete="username"
        autoFocus
      />
      <Button type="submit" variant="primary" size="large" busy={send.isPending} disabled={wait.secondsLeft > 0}>
        {text.forgotSubmit}
      </Button>
      <Button variant="quiet" onClick={props.onBack}>
        {text.back}
      </Button>
    </Form>
  );
}
