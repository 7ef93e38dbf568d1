import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { messageOf, request } from "../../../api/http.ts";
import { CopyField } from "../../../ui/copy-field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { text } from "../text.ts";
import { QrCode } from "../qr-code.tsx";

/** The secret for an authenticator app. */
export interface NewSecret {
  readonly secret: string;
  readonly otpauthUrl: string;
}

/** Shows the secret as QR code and text. It takes effect after a valid code was entered. */
export function TotpDialog(props: {
  secret: NewSecret;
  onEnabled(recoveryCodes: readonly string[]): void;
  onClose(): void;
}) {
  const [code, setCode] = useState("");
  // Not `autoFocus`: the dialog could not remember the previously focused element.
  const first = useRef<HTMLInputElement>(null);
  const enable = useMutation({
    mutationFn: () =>
      request<{ recoveryCodes: string[] }>("POST", "/api/users/two-factor/enable", { body: { code: code.trim() } }),
    onSuccess: ({ recoveryCodes }) => props.onEnabled(recoveryCodes),
  });
  return (
    <FormDialog
      onClose={props.onClose}
      initialFocus={first}
      title={text.setUpTitle}
      description={text.scanLead}
      action={text.switchOn}
      isBusy={enable.isPending}
      isDisabled={code.trim() === ""}
      onSubmit={enable.mutate}
    >
      <QrCode value={props.secret.otpauthUrl} label={text.qrLabel} />
      <CopyField label={text.secret} value={props.secret.secret} />
      {enable.error !== null && <Notice tone="danger">{messageOf(enable.error)}</Notice>}
      <TextField
        label={text.codeOfApp}
        hint={text.codeOfAppHint}
        value={code}
        onChange={setCode}
        inputMode="numeric"
        autoComplete="one-time-code"
        ref={first}
      />
    </FormDialog>
  );
}
