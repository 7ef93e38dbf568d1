import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { messageOf } from "../../api/http.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { type Credentials, signIn } from "../../api/sign-in.ts";
import { Notice } from "../../ui/notice.tsx";
import { RejectionMessage } from "../../ui/rejection-message.tsx";
import { text } from "./text.ts";
import { useRetryWait } from "../../ui/use-retry-wait.ts";

/** The second step: the code of an authenticator app, or a recovery code. */
export function CodeStep(props: { credentials: Credentials; onBack(): void; onDone(): void }) {
  const [isRecovery, setRecovery] = useState(false);
  const [code, setCode] = useState("");
  const [isMissing, setMissing] = useState(false);
  const send = useMutation({ mutationFn: signIn, onSuccess: props.onDone });
  const wait = useRetryWait(send.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setMissing(code.trim() === "");
    if (code.trim() !== "" && wait.secondsLeft === 0) send.mutate({ ...props.credentials, code: code.trim() });
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <h2 className="font-semibold">{text.codeTitle}</h2>
      <p className="text-sm text-muted">{isRecovery ? text.recoveryLead : text.codeLead}</p>
      {send.error !== null && (
        <Notice tone="danger">
          <RejectionMessage message={messageOf(send.error)} wait={wait} />
        </Notice>
      )}
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
    </form>
  );
}
