import { readRejection } from "../../api/rejection.ts";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { type Credentials, signIn } from "../../api/sign-in.ts";
import { text } from "./text.ts";
import { useRetryWait } from "../../ui/use-retry-wait.ts";
import { Form } from "../../ui/form.tsx";
import { FormRejection } from "../../ui/rejection-message.tsx";

/** The second step: the code of an authenticator app, or a recovery code. */
export function CodeStep(props: { credentials: Credentials; onBack(): void; onDone(): void }) {
  const [isRecovery, setRecovery] = useState(false);
  const [code, setCode] = useState("");
  const [isMissing, setMissing] = useState(false);
  const send = useMutation({ mutationFn: signIn, onSuccess: props.onDone });
  const wait = useRetryWait(send.error);
  const submit = () => {
    setMissing(code.trim() === "");
    if (code.trim() !== "" && wait.secondsLeft === 0) send.mutate({ ...props.credentials, code: code.trim() });
  };
  return (
    <Form noValidate onSubmit={submit} className="flex flex-col gap-4">
      <h2 className="font-semibold">{text.codeTitle}</h2>
      <p className="text-sm text-muted">{isRecovery ? text.recoveryLead : text.codeLead}</p>
      <FormRejection rejection={readRejection(send.error, [])} wait={wait} />
      <TextField
        key={isRecovery ? "recovery" : "app"}
        label={isRecovery ? text.recoveryCode : text.code}
        value={code}
        onChange={setCode}
        error={isMissing ? text.codeMissing : undefined}
        inputMode={isRecovery ? "text" : "numeric"}
        autoComplete={isRecovery ? "off" : "one-time-code"}
        autoFocus
      />
      <Button type="submit" variant="primary" size="large" busy={send.isPending} disabled={wait.secondsLeft > 0}>
        {text.submit}
      </Button>
      <div className="flex flex-wrap justify-between gap-2">
        <Button variant="quiet" onClick={props.onBack}>
          {text.back}
        </Button>
        <Button
          variant="quiet"
          onClick={() => {
            setRecovery(!isRecovery);
            setCode("");
          }}
        >
          {isRecovery ? text.useApp : text.useRecovery}
        </Button>
      </div>
    </Form>
  );
}
