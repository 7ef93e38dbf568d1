import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorState } from "../../ui/error-state.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { useSignInMethods } from "../../api/sign-in.ts";
import { CodeStep } from "./code-step.tsx";
import { ForgotStep } from "./forgot-step.tsx";
import { PasswordStep } from "./password-step.tsx";

/**
 * Signs the person in with any method of this server: password and two-factor code, passkey, OIDC provider. Used on the
 * sign-in page, and in the dialog over a page whose session has ended.
 * @param email if it is known who was signed in
 * @param returnTo where the provider sends the browser back to: a path with the base path
 * @param onDone called when this browser has its session cookie
 */
export function SignInForm({ email, returnTo, onDone }: { email?: string; returnTo?: string; onDone(): void }) {
  const methods = useSignInMethods();
  const client = useQueryClient();
  const [step, setStep] = useState<"password" | "code" | "forgot">("password");
  const [entered, setEntered] = useState({ email: email ?? "", password: "" });
  if (methods.isError) return <ErrorState error={methods.error} onRetry={() => void methods.refetch()} />;
  if (methods.data === undefined) return <Spinner />;
  const done = () => {
    void client.invalidateQueries({ queryKey: ["sign-in-methods"] });
    onDone();
  };
  if (step === "forgot") return <ForgotStep email={entered.email} onBack={() => setStep("password")} />;
  if (step === "code") {
    return <CodeStep credentials={entered} onBack={() => setStep("password")} onDone={done} />;
  }
  return (
    <PasswordStep
      methods={methods.data}
      email={entered.email}
      returnTo={returnTo ?? window.location.pathname + window.location.search}
      onDone={done}
      onCode={(credentials) => {
        setEntered(credentials);
        setStep("code");
      }}
      onForgot={(typed) => {
        setEntered({ email: typed, password: "" });
        setStep("forgot");
      }}
    />
  );
}
