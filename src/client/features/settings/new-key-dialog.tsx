import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { request } from "../../api/http.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Select } from "../../ui/select.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { Notice } from "../../ui/notice.tsx";
import { errorAt, readRejection } from "../../api/rejection.ts";
import { SCOPES } from "./api.ts";
import { text } from "./text.ts";
import { CopyDialog } from "../../ui/copy-dialog.tsx";
import { withMember } from "../../base/sets.ts";

const LIFETIMES = ["30", "90", "365", "never"];

/** Creates an API key and shows it. The key can't be shown again. */
export function NewKeyDialog(props: { isAdmin: boolean; onCreated(): void; onClose(): void }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set(["files:read", "files:write"]));
  const [lifetime, setLifetime] = useState("90");
  // Not `autoFocus`: the dialog could not remember the previously focused element.
  const first = useRef<HTMLInputElement>(null);
  const create = useMutation({
    mutationFn: () => {
      const days = Number(lifetime);
      const expiresAt = lifetime === "never" ? null : new Date(Date.now() + days * 86_400_000).toISOString();
      const body = { name: name.trim(), scopes: [...scopes], expiresAt };
      return request<{ key: string }>("POST", "/api/users/api-keys", { body });
    },
    onSuccess: props.onCreated,
  });
  const rejection = readRejection(create.error, ["name", "scopes", "expiresAt"]);
  if (create.data !== undefined) {
    return (
      <CopyDialog
        title={text.keyCreated}
        description={text.keyCreatedLead}
        label={text.key}
        value={create.data.key}
        onClose={props.onClose}
      />
    );
  }
  return (
    <FormDialog
      onClose={props.onClose}
      initialFocus={first}
      title={text.newKey}
      description={text.newKeyLead}
      action={text.createKey}
      isBusy={create.isPending}
      isDisabled={name.trim() === "" || scopes.size === 0}
      onSubmit={create.mutate}
    >
      {rejection !== undefined && rejection.field !== "name" && <Notice tone="danger">{rejection.message}</Notice>}
      <TextField
        label={text.keyName}
        hint={text.keyNameHint}
        value={name}
        onChange={setName}
        error={errorAt(rejection, "name")}
        ref={first}
      />
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-sm font-medium">{text.permissions}</legend>
        {SCOPES.filter((scope) => scope !== "admin" || props.isAdmin).map((scope) => (
          <Checkbox
            key={scope}
            label={text.scopeName(scope)}
            checked={scopes.has(scope)}
            onChange={(isChecked) => setScopes(withMember(scopes, scope, isChecked))}
          />
        ))}
      </fieldset>
      <Select
        label={text.expires}
        value={lifetime}
        onChange={setLifetime}
        options={LIFETIMES.map((value) => ({ value, label: text.lifetime(value) }))}
      />
    </FormDialog>
  );
}
