import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { PasswordField } from "../../ui/password-field.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { Notice } from "../sign-in/notice.tsx";
import { errorAt, refusalOf } from "../sign-in/refusal.ts";
import { RefusalWords } from "../sign-in/refusal-words.tsx";
import { useWait } from "../sign-in/use-wait.ts";
import { text } from "./text.ts";

/** What shows that it is really the owner who sits here. */
export interface Proof {
  readonly currentPassword: string;
  /** Only where it was asked for. */
  readonly code?: string;
}

/**
 * Asks for the password, and for the second factor where the deed wants it, then does the deed. It stays open, with
 * words, as long as the server refuses.
 */
export function ProofDialog(props: {
  title: string;
  description: string;
  action: string;
  isDanger?: boolean;
  asksCode: boolean;
  run(proof: Proof): Promise<unknown>;
  onClose(): void;
  children?: ReactNode;
}) {
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  // Not `autoFocus`: it would take the focus before the dialog has seen where to give it back to.
  const first = useRef<HTMLInputElement>(null);
  const deed = useMutation({
    mutationFn: () =>
      props.run({ currentPassword: password, ...(props.asksCode && code.trim() !== "" && { code: code.trim() }) }),
    onSuccess: props.onClose,
  });
  const refusal = refusalOf(deed.error, ["password", "code"], {
    bad_credentials: { field: "password", message: text.passwordWrong },
    invalid_code: "code",
    second_factor_required: "code",
  });
  const wait = useWait(deed.error);
  const submit = () => {
    if (wait.left === 0) deed.mutate();
  };
  return (
    <FormDialog
      onClose={props.onClose}
      initialFocus={first}
      title={props.title}
      description={props.description}
      action={props.action}
      isDanger={props.isDanger === true}
      isBusy={deed.isPending}
      isDisabled={wait.left > 0}
      onSubmit={submit}
    >
      {refusal !== undefined && refusal.field === undefined && (
        <Notice tone="danger">
          <RefusalWords message={refusal.message} wait={wait} />
        </Notice>
      )}
      {props.children}
      <PasswordField
        label={text.currentPassword}
        value={password}
        onChange={setPassword}
        error={errorAt(refusal, "password")}
        autoComplete="current-password"
        ref={first}
      />
      {props.asksCode && (
        <TextField
          label={text.code}
          hint={text.codeHint}
          value={code}
          onChange={setCode}
          error={errorAt(refusal, "code")}
          autoComplete="one-time-code"
        />
      )}
    </FormDialog>
  );
}
