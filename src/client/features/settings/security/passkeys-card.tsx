import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/browser";
import { KeyRound, Pencil } from "lucide-react";
import { Trash2 } from "../../../ui/icons.ts";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { formatDate, formatRelative } from "../../../base/format.ts";
import { IconButton } from "../../../ui/icon-button.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { knowsPasskeys } from "../../../api/passkey.ts";
import { PageError } from "../../../api/rejection.ts";
import { ActionDialog } from "../../../ui/action-dialog.tsx";
import { type Passkey, useRefresh, useDelete, useList } from "../api.ts";
import { RenameDialog } from "../rename-dialog.tsx";
import { type Row, Rows } from "../rows.tsx";
import { text } from "../text.ts";
import { agentName } from "../../../base/user-agent.ts";
import { LoadedList } from "../../../ui/loaded.tsx";

/**
 * Passkeys: list, add, rename, remove.
 * @param isOffered whether browsers support passkeys at this server's address
 */
export function PasskeysCard({ isOffered }: { isOffered: boolean }) {
  const passkeys = useList("passkeys");
  const refresh = useRefresh();
  const deleteThen = useDelete("passkeys", "twoFactor");
  const remove = (passkey: Passkey) =>
    deleteThen(
      `/api/users/passkeys/${passkey.id}`,
      { title: text.removePasskey({ name: passkey.name }), body: text.removePasskeyLead, action: text.remove },
      text.passkeyRemoved,
    );
  const [isAdding, setAdding] = useState(false);
  const [renaming, setRenaming] = useState<Passkey>();
  const canAdd = isOffered && knowsPasskeys();

  const rowOf = (passkey: Passkey): Row => ({
    key: passkey.id,
    icon: <KeyRound />,
    title: (
      <>
        {passkey.name} {passkey.backedUp && <Badge>{text.backedUp}</Badge>}
      </>
    ),
    lines: [
      text.added({ date: formatDate(passkey.createdAt) }),
      passkey.lastUsedAt === null ? text.neverUsed : text.lastUsed({ when: formatRelative(passkey.lastUsedAt) }),
    ],
    actions: (
      <>
        <IconButton label={text.renameOf({ name: passkey.name })} icon={Pencil} onClick={() => setRenaming(passkey)} />
        <IconButton label={text.removeOf({ name: passkey.name })} icon={Trash2} onClick={() => void remove(passkey)} />
      </>
    ),
  });
  return (
    <Card
      title={text.passkeys}
      description={text.passkeysLead}
      actions={
        canAdd && (
          <Button icon={KeyRound} onClick={() => setAdding(true)}>
            {text.addPasskey}
          </Button>
        )
      }
    >
      {!canAdd && <p className="mb-3 text-sm text-muted">{text.passkeysNotHere}</p>}
      <LoadedList query={passkeys} empty={<p className="text-sm text-muted">{text.noPasskeys}</p>}>
        {(items) => <Rows label={text.passkeys} rows={items.map(rowOf)} />}
      </LoadedList>
      {isAdding && <AddPasskeyDialog onClose={() => setAdding(false)} />}
      {renaming !== undefined && (
        <RenameDialog
          title={text.renamePasskey}
          label={text.passkeyName}
          name={renaming.name}
          rename={async (next) => {
            await request("PATCH", `/api/users/passkeys/${renaming.id}`, { body: { name: next } });
            await refresh("passkeys");
          }}
          onClose={() => setRenaming(undefined)}
        />
      )}
    </Card>
  );
}

function AddPasskeyDialog({ onClose }: { readonly onClose: () => void }) {
  const refresh = useRefresh();
  const [name, setName] = useState("");
  return (
    <ActionDialog
      title={text.addPasskey}
      description={text.addPasskeyLead}
      action={text.proceed}
      run={async () => {
        await addPasskey(name.trim() === "" ? agentName(navigator.userAgent) : name.trim());
        toast({ text: text.passkeyAdded, tone: "success" });
        await refresh("passkeys", "twoFactor");
      }}
      onClose={onClose}
    >
      <TextField label={text.passkeyName} hint={text.passkeyNameHint} value={name} onChange={setName} />
    </ActionDialog>
  );
}

/**
 * Creates a passkey in the browser and registers it.
 * @throws ApiError; PageError if the browser created none
 */
async function addPasskey(name: string): Promise<void> {
  const { options } = await request<{ options: PublicKeyCredentialCreationOptionsJSON }>(
    "POST",
    "/api/users/passkeys/options",
  );
  const { startRegistration } = await import("@simplewebauthn/browser");
  const response = await startRegistration({ optionsJSON: options }).catch((error: unknown) => {
    const isKnown = error instanceof Error && error.name === "InvalidStateError";
    throw new PageError(isKnown ? text.passkeyKnown : text.passkeyNotCreated, { cause: error });
  });
  await request("POST", "/api/users/passkeys", { body: { name, response } });
}
