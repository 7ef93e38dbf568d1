import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { request } from "../../../api/http.ts";
import { errorAt, readRejection } from "../../../api/rejection.ts";
import { AccessFields, accessFields, lacksFolder, useProgramAccess } from "../../../entries/dialogs/access-fields.tsx";
import { Button } from "../../../ui/button.tsx";
import { CopyField } from "../../../ui/copy-field.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { type NewAppPassword, serverOf } from "../api.ts";
import { QrCode } from "../qr-code.tsx";
import { text as settingsText } from "../text.ts";
import { type Family, qrValue } from "./families.ts";
import { AddressNotice, ConnectionFields, Steps } from "./guide.tsx";
import { text } from "./text.ts";

/** Creates an app password and shows it with everything else to enter. The password can't be shown again. */
export function NewAppPasswordDialog(props: { family: Family; onCreated(): void; onClose(): void }) {
  const [name, setName] = useState(text.shortName(props.family.name));
  const [access, setAccess] = useProgramAccess();
  // Not `autoFocus`: the dialog could not remember the previously focused element.
  const first = useRef<HTMLInputElement>(null);
  const create = useMutation({
    mutationFn: () =>
      request<NewAppPassword>("POST", "/api/users/app-passwords", {
        body: { name: name.trim(), ...accessFields(access) },
      }),
    onSuccess: props.onCreated,
    // The result contains the password, so it must not stay in memory.
    gcTime: 0,
  });
  if (create.data !== undefined) {
    return <CreatedDialog family={props.family} created={create.data} onClose={props.onClose} />;
  }
  const rejection = readRejection(create.error, ["name"]);
  return (
    <FormDialog
      size="medium"
      onClose={props.onClose}
      initialFocus={first}
      title={text.newPassword}
      description={text.newPasswordLead}
      action={text.create}
      isBusy={create.isPending}
      isDisabled={name.trim() === "" || lacksFolder(access)}
      onSubmit={create.mutate}
    >
      {rejection !== undefined && rejection.field !== "name" && <Notice tone="danger">{rejection.message}</Notice>}
      <TextField
        label={text.name}
        hint={text.nameHint}
        value={name}
        onChange={setName}
        error={errorAt(rejection, "name")}
        maxLength={100}
        ref={first}
      />
      <AccessFields value={access} onChange={setAccess} />
    </FormDialog>
  );
}

function CreatedDialog({
  family,
  created: { username, password, url },
  onClose,
}: {
  readonly family: Family;
  readonly created: NewAppPassword;
  readonly onClose: () => void;
}) {
  const server = serverOf(url);
  const code = qrValue(family, username, password, server);
  const hasSecret = family.name === "nextcloud-phone";
  return (
    <Dialog
      open
      isPersistent
      size="medium"
      onClose={onClose}
      title={text.created}
      description={text.createdLead}
      footer={
        <Button variant="primary" onClick={onClose}>
          {settingsText.done}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <AddressNotice server={server} />
        <CopyField label={text.password} value={password} isWrapped />
        <ConnectionFields family={family} username={username} server={server} password={password} />
        {code !== undefined && (
          <figure className="flex flex-col gap-2">
            <QrCode value={code} label={hasSecret ? text.scanNextcloud : text.scanAddress} />
            <figcaption className="text-center text-sm text-muted">
              {hasSecret ? text.scanHint : text.scanAddressHint}
            </figcaption>
          </figure>
        )}
        <Steps family={family} from={1} />
      </div>
    </Dialog>
  );
}
