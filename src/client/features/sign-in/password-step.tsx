import { useMutation } from "@tanstack/react-query";
import { KeyRound, LogIn } from "lucide-react";
import { useState } from "react";
import { ApiError } from "../../api/http.ts";
import { Button } from "../../ui/button.tsx";
import { PasswordField } from "../../ui/password-field.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { type Credentials, type SignInMethods, signIn } from "../../api/sign-in.ts";
import { Notice } from "../../ui/notice.tsx";
import { knowsPasskeys } from "../../api/passkey.ts";
import { errorAt, readRejection } from "../../api/rejection.ts";
import { text } from "./text.ts";
import { usePasskey } from "./use-passkey.ts";
import { useRetryWait } from "../../ui/use-retry-wait.ts";
import { Form } from "../../ui/form.tsx";
import { FormRejection } from "../../ui/rejection-message.tsx";

/** The first step: email and password, or one of the alternatives. */
export function PasswordStep(props: {
  methods: SignInMethods;
  email: string;
  returnTo: string;
  onDone(): void;
  /** The password is correct, and a two-factor code is required. */
  onCode(credentials: Credentials): void;
  onForgot(email: string): void;
}) {
  const { methods, returnTo, onDone } = props;
  const [email, setEmail] = useState(props.email);
  const [password, setPassword] = useState("");
  const [missing, setMissing] = useState<"email" | "password">();
  const hasPasskeys = methods.passkeys && knowsPasskeys();
  const passkey = usePasskey(hasPasskeys, onDone);
  const send = useMutation({
    mutationFn: signIn,
    onSuccess: onDone,
    onError: (error, credentials) => {
      if (error instanceof ApiError && error.reason === "second_factor_required") props.onCode(credentials);
    },
  });
  const wait = useRetryWait(send.error);
  const rejection = readRejection(send.error, ["email", "password"]);

  const submit = () => {
    const missingField = email.trim() === "" ? "email" : password === "" ? "password" : undefined;
    setMissing(missingField);
    if (missingField === undefined && wait.secondsLeft === 0) send.mutate({ email: email.trim(), password });
  };
  const errorOf = (field: "email" | "password", message: string) =>
    missing === field ? message : errorAt(rejection, field);

  return (
    <div className="flex flex-col gap-4">
      <Form noValidate onSubmit={submit} className="flex flex-col gap-4">
        <FormRejection rejection={rejection} wait={wait} />
        <TextField
          label={text.email}
          type="email"
          value={email}
          onChange={setEmail}
          error={errorOf("email", text.emailMissing)}
          autoComplete={hasPasskeys ? "username webauthn" : "username"}
          autoFocus={email === ""}
        />
        <PasswordField
          label={text.password}
          value={password}
          onChange={setPassword}
          error={errorOf("password", text.passwordMissing)}
          autoComplete="current-password"
          autoFocus={email !== ""}
        />
        <Button type="submit" variant="primary" size="large" busy={send.isPending} disabled={wait.secondsLeft > 0}>
          {text.submit}
        </Button>
        <Forgot hasMail={methods.mail} onForgot={() => props.onForgot(email)} />
      </Form>
      {(hasPasskeys || methods.oidc !== null) && (
        <OtherMethods passkey={hasPasskeys ? passkey : undefined} oidc={methods.oidc} returnTo={returnTo} />
      )}
    </div>
  );
}

function Forgot({ hasMail, onForgot }: { readonly hasMail: boolean; readonly onForgot: () => void }) {
  if (!hasMail) return <p className="text-center text-sm text-muted">{text.noEmail}</p>;
  return (
    <Button variant="quiet" onClick={onForgot}>
      {text.forgot}
    </Button>
  );
}

function OtherMethods({
  passkey,
  oidc,
  returnTo,
}: {
  /** Undefined if there are no passkeys. */
  readonly passkey: ReturnType<typeof usePasskey> | undefined;
  readonly oidc: SignInMethods["oidc"];
  readonly returnTo: string;
}) {
  return (
    <>
      <div className="flex items-center gap-3 text-sm text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        {text.or}
      </div>
      {passkey?.message !== undefined && <Notice tone="danger">{passkey.message}</Notice>}
      {passkey !== undefined && (
        <Button variant="secondary" icon={KeyRound} busy={passkey.isBusy} onClick={passkey.start}>
          {text.passkey}
        </Button>
      )}
      {oidc !== null && (
        <Button
          variant="secondary"
          icon={LogIn}
          onClick={() => window.location.assign(withReturnTo(oidc.startUrl, returnTo))}
        >
          {text.withProvider({ name: oidc.name })}
        </Button>
      )}
    </>
  );
}

function withReturnTo(startUrl: string, returnTo: string): string {
  const address = new URL(startUrl);
  address.searchParams.set("returnTo", returnTo);
  return address.href;
}
