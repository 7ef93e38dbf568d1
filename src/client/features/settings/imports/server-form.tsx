import { useState } from "react";
import { errorAt } from "../../../api/rejection.ts";
import { Button } from "../../../ui/button.tsx";
import { Form } from "../../../ui/form.tsx";
import { PasswordField } from "../../../ui/password-field.tsx";
import { FormRejection } from "../../../ui/rejection-message.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { type Target, TargetFields } from "./target-fields.tsx";
import { text } from "./text.ts";
import { type StartField, useStart } from "./use-start.ts";

type ServerKind = "nextcloud" | "immich";
type Missing = Partial<Record<StartField, string>>;

interface Draft extends Target {
  readonly url: string;
  readonly username: string;
  readonly secret: string;
}

/** Starts an import from a server that Larder reads over the network. */
export function ServerForm({
  kind,
  onStarted,
}: {
  readonly kind: ServerKind;
  readonly onStarted: (id: string) => void;
}) {
  const folder = kind === "nextcloud" ? "/" : "/Photos";
  const [draft, setDraft] = useState<Draft>({ url: "", username: "", secret: "", folder, restoreDeleted: false });
  const [missing, setMissing] = useState<Missing>({});
  const { start, rejection } = useStart(onStarted);
  const change = (part: Partial<Draft>) => {
    setDraft({ ...draft, ...part });
    setMissing({});
    start.reset();
  };
  const submit = () => {
    const found = findMissing(kind, draft);
    setMissing(found);
    if (Object.keys(found).length > 0) return;
    const { url, username, ...rest } = draft;
    const account = kind === "nextcloud" ? { username: username.trim() } : {};
    const forget = () => setDraft({ ...draft, secret: "" });
    start.mutate({ kind, url: withScheme(url.trim()), ...account, ...rest }, { onSuccess: forget });
  };
  const errorOf = (field: StartField) => missing[field] ?? errorAt(rejection, field);
  return (
    <Form noValidate autoComplete="off" onSubmit={submit} className="flex flex-col gap-4">
      <FormRejection rejection={rejection} />
      <TextField
        label={text.address}
        hint={text.addressHint(kind)}
        error={errorOf("url")}
        inputMode="url"
        autoCapitalize="off"
        spellCheck={false}
        dir="ltr"
        value={draft.url}
        onChange={(url) => change({ url })}
      />
      {kind === "nextcloud" && (
        <TextField
          label={text.username}
          error={errorOf("username")}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          value={draft.username}
          onChange={(username) => change({ username })}
        />
      )}
      <PasswordField
        label={text.secret(kind)}
        hint={text.secretHint}
        error={errorOf("secret")}
        autoComplete="off"
        value={draft.secret}
        onChange={(secret) => change({ secret })}
      />
      <TargetFields target={draft} error={errorOf("folder")} onChange={change} />
      <div>
        <Button type="submit" variant="primary" busy={start.isPending}>
          {text.start}
        </Button>
      </div>
    </Form>
  );
}

function findMissing(kind: ServerKind, { url, username, secret }: Draft): Missing {
  return {
    ...(url.trim() === "" && { url: text.enterAddress }),
    ...(kind === "nextcloud" && username.trim() === "" && { username: text.enterUsername }),
    ...(secret === "" && { secret: text.enterSecret(kind) }),
  };
}

/** People often leave out the scheme. */
function withScheme(address: string): string {
  return /^[a-z][a-z+.-]*:\/\//i.test(address) ? address : `https://${address}`;
}
