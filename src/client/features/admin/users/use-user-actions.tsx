import {
  Ban,
  CircleCheck,
  ImageOff,
  KeyRound,
  Link,
  MailCheck,
  MonitorSmartphone,
  Pencil,
  ShieldOff,
} from "lucide-react";
import { Trash2 } from "../../../ui/icons.ts";
import { type ReactNode, useState } from "react";
import { request } from "../../../api/http.ts";
import { useSession } from "../../../api/session.ts";
import { confirmThen } from "../../../ui/confirm.tsx";
import type { MenuItem } from "../../../ui/menu-items.ts";
import { toast } from "../../../ui/toast.tsx";
import { useHasPicture, useRefreshPictures } from "../../../ui/person-avatar.tsx";
import { TypedConfirmDialog } from "../../../ui/typed-confirm-dialog.tsx";
import { useAction, useRefresh } from "../api.ts";
import { text } from "../text.ts";
import type { Account, PasswordLink } from "../types.ts";
import { AccessDialog } from "./access-dialog.tsx";
import { EditUserDialog } from "./edit-user-dialog.tsx";
import { LinkDialog } from "./link-dialog.tsx";
import { PasswordDialog } from "./password-dialog.tsx";
import { nameOf } from "./user-columns.tsx";

type OpenDialog =
  | { readonly kind: "edit" | "password" | "access" | "delete"; readonly account: Account }
  | { readonly kind: "link"; readonly account: Account; readonly link: PasswordLink };

/** The actions on an account: its menu entries, and the dialogs that they open. */
export function useUserActions(): { itemsFor: (account: Account) => readonly MenuItem[]; dialogs: ReactNode } {
  const { user } = useSession();
  const [shown, setShown] = useState<OpenDialog>();
  const changes = useUserChanges();
  const makeLink = useAction(
    (account: Account) => request<PasswordLink>("POST", `/api/admin/users/${account.id}/reset-link`),
    (link, account) => setShown({ kind: "link", account, link }),
  );
  const itemsFor = (account: Account): MenuItem[] => {
    const { disabled: isDisabled } = account;
    // Administrators change their own account in the settings; the server rejects it here. Another administrator must
    // disable it, so that nobody locks themselves out.
    const disabled = account.id === user.id;
    const open = (kind: Exclude<OpenDialog["kind"], "link">) => () => setShown({ kind, account });
    return [
      { label: text.edit, icon: Pencil, run: open("edit") },
      { label: text.setPassword, icon: KeyRound, disabled, run: open("password") },
      { label: text.resetLink, icon: Link, disabled: isDisabled || disabled, run: () => makeLink.mutate(account) },
      { label: text.sessions, icon: MonitorSmartphone, disabled, run: open("access") },
      ...(account.twoFactor && !disabled
        ? [{ label: text.removeTwoFactor, icon: ShieldOff, run: () => changes.removeTwoFactor(account) }]
        : []),
      ...(account.emailVerified
        ? []
        : [{ label: text.confirmEmail, icon: MailCheck, run: () => changes.confirmEmail(account) }]),
      ...(changes.hasPicture(account)
        ? [{ label: text.removePicture, icon: ImageOff, run: () => changes.removePicture(account) }]
        : []),
      null,
      isDisabled
        ? { label: text.enable, icon: CircleCheck, run: () => changes.enable(account) }
        : { label: text.disable, icon: Ban, disabled, run: () => changes.disable(account) },
      { label: text.delete, icon: Trash2, danger: true, disabled, run: open("delete") },
    ];
  };
  return { itemsFor, dialogs: shown && <AccountDialog shown={shown} onClose={() => setShown(undefined)} /> };
}

/** Changes to an account that need no form, each after a confirmation where it can do harm. */
function useUserChanges() {
  const setDisabled = useAction(
    ({ account, disabled }: { account: Account; disabled: boolean }) =>
      request("PATCH", `/api/admin/users/${account.id}`, { body: { disabled } }),
    (_, { account, disabled }) =>
      toast({
        text: disabled ? text.disabledDone({ name: nameOf(account) }) : text.enabledDone({ name: nameOf(account) }),
      }),
  );
  const removeTwoFactor = useAction(
    (account: Account) => request("DELETE", `/api/admin/users/${account.id}/two-factor`),
    () => toast({ text: text.twoFactorRemoved }),
  );
  const confirmEmail = useAction(
    (account: Account) => request("PATCH", `/api/admin/users/${account.id}`, { body: { emailVerified: true } }),
    (_, account) => toast({ text: text.emailConfirmed({ email: account.email }) }),
  );
  const refresh = useRefreshPictures();
  const removePicture = useAction(
    (account: Account) => request("DELETE", `/api/admin/users/${account.id}/avatar`),
    () => {
      toast({ text: text.pictureRemoved });
      refresh();
    },
  );
  const hasPicture = useHasPicture();
  return {
    hasPicture: ({ id }: Account) => hasPicture(id),
    removePicture: (account: Account) => {
      const title = text.removePictureTitle({ name: nameOf(account) });
      const confirmation = { title, body: text.removePictureBody, action: text.removePicture };
      confirmThen(confirmation, () => removePicture.mutate(account));
    },
    enable: (account: Account) => setDisabled.mutate({ account, disabled: false }),
    disable: (account: Account) => {
      const title = text.disableTitle({ name: nameOf(account) });
      const confirmation = { title, body: text.disableBody, action: text.disable, danger: true };
      confirmThen(confirmation, () => setDisabled.mutate({ account, disabled: true }));
    },
    removeTwoFactor: (account: Account) => {
      const title = text.removeTwoFactorTitle({ name: nameOf(account) });
      const confirmation = { title, body: text.removeTwoFactorBody, action: text.removeTwoFactor, danger: true };
      confirmThen(confirmation, () => removeTwoFactor.mutate(account));
    },
    confirmEmail: (account: Account) => {
      const title = text.confirmEmailTitle({ name: nameOf(account) });
      const confirmation = { title, body: text.confirmEmailBody({ email: account.email }), action: text.confirmEmail };
      confirmThen(confirmation, () => confirmEmail.mutate(account));
    },
  };
}

function AccountDialog({ shown, onClose }: { readonly shown: OpenDialog; readonly onClose: () => void }) {
  const { kind, account } = shown;
  switch (kind) {
    case "edit":
      return <EditUserDialog account={account} onClose={onClose} />;
    case "password":
      return <PasswordDialog account={account} onClose={onClose} />;
    case "access":
      return <AccessDialog account={account} onClose={onClose} />;
    case "delete":
      return <DeleteUserDialog account={account} onClose={onClose} />;
    case "link":
      return <LinkDialog title={text.resetLinkTitle({ name: nameOf(account) })} link={shown.link} onClose={onClose} />;
  }
}

/** Deletes an account with all its files. */
function DeleteUserDialog({ account, onClose }: { readonly account: Account; readonly onClose: () => void }) {
  const refresh = useRefresh();
  return (
    <TypedConfirmDialog
      title={text.deleteTitle({ name: nameOf(account) })}
      description={text.deleteBody}
      action={text.delete}
      label={text.deleteConfirm({ email: account.email })}
      expected={account.email}
      isPersistent
      run={async () => {
        await request("DELETE", `/api/admin/users/${account.id}`);
        toast({ text: text.deletedDone({ name: nameOf(account) }) });
        void refresh();
      }}
      onClose={onClose}
    />
  );
}
