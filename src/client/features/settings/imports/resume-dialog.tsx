import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { errorAt, readRejection } from "../../../api/rejection.ts";
import type { ImportRun } from "../../../entries/imports/states.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { PasswordField } from "../../../ui/password-field.tsx";
import { FormRejection } from "../../../ui/rejection-message.tsx";
import { useRefreshImports } from "./api.ts";
import { text } from "./text.ts";

/** Asks for the app password or the API key, and continues an import with it. */
export function ResumeDialog({
  run: { id, kind, needsSecret, source },
  onClose,
}: {
  readonly run: ImportRun;
  readonly onClose: () => void;
}) {
  const [secret, setSecret] = useState("");
  const [isMissing, setMissing] = useState(false);
  const refresh = useRefreshImports();
  const resume = useMutation({
    mutationFn: () =>
      request<ImportRun>("POST", `/api/imports/${id}/resume`, { body: secret === "" ? {} : { secret } }),
    onSuccess: async () => {
      await refresh();
      onClose();
    },
  });
  const rejection = readRejection(resume.error, ["secret"]);
  const submit = () => {
    const lacksSecret = needsSecret && secret === "";
    setMissing(lacksSecret);
    if (!lacksSecret) resume.mutate();
  };
  return (
    <FormDialog
      isPersistent
      title={text.resumeTitle}
      description={source}
      action={text.resume}
      isBusy={resume.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <FormRejection rejection={rejection} />
      <PasswordField
        label={text.secret(kind)}
        hint={needsSecret ? text.resumeHint(kind) : text.optionalSecret}
        error={isMissing ? text.enterSecret(kind) : errorAt(rejection, "secret")}
        autoComplete="off"
        value={secret}
        onChange={setSecret}
      />
    </FormDialog>
  );
}
