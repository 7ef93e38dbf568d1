import { useMutation } from "@tanstack/react-query";
import { ExternalLink, KeyRound } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { ApiError, type ProofRequest } from "../../api/http.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { PasswordField } from "../../ui/password-field.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useSignInMethods } from "../../api/sign-in.ts";
import { Notice } from "../../ui/notice.tsx";
import { knowsPasskeys, PasskeyDismissed } from "../../api/passkey.ts";
import { errorAt, readRejection } from "../../api/rejection.ts";
import { useRetryWait } from "../../ui/use-retry-wait.ts";
import { confirmByPasskey, confirmByPassword, isConfirmed, openProvider } from "./api.ts";
import { text } from "./text.ts";
import { FormRejection } from "../../ui/rejection-message.tsx";
import { ignore } from "../../base/ignore.ts";

const POLL_MS = 2_000;

interface Props {
  readonly proof: ProofRequest;
  /** @param isDone false if the person canceled */
  readonly onDone: (isDone: boolean) => void;
}

/** Asks the person to confirm their identity: with the password, or another method of the account. */
export function ProofDialog({ proof, onDone }: Props) {
  if (proof.methods.includes("password")) return <PasswordForm proof={proof} onDone={onDone} />;
  return (
    <Dialog
      open
      isPersistent
      size="small"
      onClose={() => onDone(false)}
      title={text.title}
      description={proof.methods.length > 0 ? text.leadWithout : text.noMethod}
    >
      <OtherMethods proof={proof} onDone={onDone} />
    </Dialog>
  );
}

function PasswordForm({ proof, onDone }: Props) {
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  // Not `autoFocus`: the dialog could not remember the previously focused element.
  const first = useRef<HTMLInputElement>(null);
  const confirm = useMutation({ mutationFn: () => confirmByPassword(password, code), onSuccess: () => onDone(true) });
  const { error } = confirm;
  // Two-factor authentication was turned on since the dialog opened.
  const needsCode = proof.needsCode || (error instanceof ApiError && error.reason === "second_factor_required");
  const rejection = readRejection(error, ["password", "code"], {
    bad_credentials: { field: "password", message: text.passwordWrong },
    invalid_code: "code",
    second_factor_required: "code",
  });
  const wait = useRetryWait(error);
  return (
    <FormDialog
      isPersistent
      size="small"
      onClose={() => onDone(false)}
      initialFocus={first}
      title={text.title}
      description={text.lead}
      action={text.confirm}
      isBusy={confirm.isPending}
      isDisabled={password === "" || (needsCode && code.trim() === "") || wait.secondsLeft > 0}
      onSubmit={confirm.mutate}
    >
      <FormRejection rejection={rejection} wait={wait} />
      <PasswordField
        label={text.password}
        value={password}
        onChange={setPassword}
        error={errorAt(rejection, "password")}
        autoComplete="current-password"
        ref={first}
      />
      {needsCode && (
        <TextField
          label={text.code}
          hint={text.codeHint}
          value={code}
          onChange={setCode}
          error={errorAt(rejection, "code")}
          autoComplete="one-time-code"
        />
      )}
      <OtherMethods proof={proof} onDone={onDone} />
    </FormDialog>
  );
}

/** Passkey and provider, if the account has them. */
function OtherMethods({ proof, onDone }: Props) {
  const hasPasskey = proof.methods.includes("passkey") && knowsPasskeys();
  const hasProvider = proof.methods.includes("provider");
  if (!hasPasskey && !hasProvider) return null;
  return (
    <div className="flex flex-col gap-3">
      {hasPasskey && <PasskeyMethod onDone={onDone} />}
      {hasProvider && <ProviderMethod onDone={onDone} />}
    </div>
  );
}

function PasskeyMethod({ onDone }: Pick<Props, "onDone">) {
  const confirm = useMutation({ mutationFn: confirmByPasskey, onSuccess: () => onDone(true) });
  const rejection = readRejection(confirm.error instanceof PasskeyDismissed ? null : confirm.error, []);
  return (
    <>
      {rejection !== undefined && <Notice tone="danger">{rejection.message}</Notice>}
      <Button icon={KeyRound} busy={confirm.isPending} onClick={() => confirm.mutate()}>
        {text.passkey}
      </Button>
    </>
  );
}

function ProviderMethod({ onDone }: Pick<Props, "onDone">) {
  const signInMethods = useSignInMethods();
  const start = useMutation({ mutationFn: openProvider });
  const rejection = readRejection(start.error, []);
  const isWaiting = start.isSuccess;
  useEffect(() => {
    if (!isWaiting) return undefined;
    // A failed check says nothing; the next one may succeed.
    const check = () => void isConfirmed().then((is) => is && onDone(true), ignore);
    const timer = setInterval(check, POLL_MS);
    return () => clearInterval(timer);
  }, [isWaiting, onDone]);
  return (
    <>
      {rejection !== undefined && <Notice tone="danger">{rejection.message}</Notice>}
      <Button icon={ExternalLink} busy={start.isPending} onClick={() => start.mutate()}>
        {text.provider({ name: signInMethods.data?.oidc?.name ?? "" })}
      </Button>
      {isWaiting && (
        <p role="status" className="text-sm text-muted">
          {text.providerWaiting}
        </p>
      )}
    </>
  );
}
