import { Ban, CircleCheck, KeyRound, Link, MailCheck, MonitorSmartphone, Pencil, ShieldOff } from "lucide-react";
import { Trash2 } from "../../../ui/icons.ts";
import { type ReactNode, useState } from "react";
import { request } from "../../../api/http.ts";
import { useSession } from "../../../api/session.ts";
import { useConfirm } from "../../../ui/confirm.tsx";
import type { MenuItem } from "../../../ui/menu-items.ts";
import { toast } from "../../../ui/toast.tsx";
import { text } from "../text.ts";
import type { Account, PasswordLink } from "../types.ts";
import { useAction } from "../use-action.ts";
import { AccessDialog } from "./access-dialog.tsx";
import { DeleteUserDialog } from "./delete-user-dialog.tsx";
import { EditUserDialog } from "./edit-user-dialog.tsx";
import { LinkDialog } from "./link-dialog.tsx";
import { PasswordDialog } from "./password-dialog.tsx";
import { nameOf } from "./user-columns.tsx";

type OpenDialog = { readonly kind: "edit" | "password" | "access" | "delete"; readonly account: Account };

/** The actions on an account: its menu entries, and the dialogs that they open. */
export function useUserActions(): { itemsFor: (account: Account) => readonly MenuItem[]; dialogs: ReactNode } {
  const { user } = useSession();
  const confirm = useConfirm();
  const [shown, setShown] = useState<OpenDialog>();
  const [link, setLink] = useState<{ readonly title: string; readonly link: PasswordLink }>();
  const setDisabled = useAction(
    ({ account, disabled }: { account: Account; disabled: boolean }) =>
      request("PATCH", `/api/admin/users/${account.id}`, { body: { disabled } }),
    (_, { account, disabled }) =>
      toast({ text: disabled ? text.disabledDone(nameOf(account)) : text.enabledDone(nameOf(account)) }),
  );
  const makeLink = useAction(
    (account: Account) => request<PasswordLink>("POST", `/api/admin/users/${account.id}/reset-link`),
    (created, account) => setLink({ title: text.resetLinkTitle(nameOf(account)), link: created }),
  );
  const removeTwoFactor = useAction(
    (account: Account) => request("DELETE", `/api/admin/users/${account.id}/two-factor`),
    () => toast({ text: text.twoFactorRemoved }),
  );
  const confirmEmail = useAction(
    (account: Account) => request("PATCH", `/api/admin/users/${account.id}`, { body: { emailVerified: true } }),
    (_, account) => toast({ text: text.emailConfirmed(account.email) }),
  );
  const askToConfirmEmail = async (account: Account) => {
    const title = text.confirmEmailTitle(nameOf(account));
    const confirmation = { title, body: text.confirmEmailBody(account.email), action: text.confirmEmail };
    if (await confirm(confirmation)) confirmEmail.mutate(account);
  };
  const askToDisable = async (account: Account) => {
    const confirmation = {
      title: text.disableTitle(nameOf(account)),
      body: text.disableBody,
      action: text.disable,
      danger: true,
    };
    if (await confirm(confirmation)) setDisabled.mutate({ account, disabled: true });
  };
  const askToRemoveTwoFactor = async (account: Account) => {
    const title = text.removeTwoFactorTitle(nameOf(account));
    const confirmation = { title, body: text.removeTwoFactorBody, action: text.removeTwoFactor, danger: true };
    if (await confirm(confirmation)) removeTwoFactor.mutate(account);
  };
  const open = (kind: OpenDialog["kind"], account: Account) => () => setShown({ kind, account });

  // Administrators change their own account in the settings; the server rejects it here.
  const isOwn = (account: Account) => account.id === user.id;
  const itemsFor = (account: Account): MenuItem[] => [
    { label: text.edit, icon: Pencil, run: open("edit", account) },
    { label: text.setPassword, icon: KeyRound, disabled: isOwn(account), run: open("password", account) },
    {
      label: text.resetLink,
      icon: Link,
      disabled: account.disabled || isOwn(account),
      run: () => makeLink.mutate(account),
    },
    { label: text.sessions, icon: MonitorSmartphone, disabled: isOwn(account), run: open("access", account) },
    ...(account.twoFactor && !isOwn(account)
      ? [{ label: text.removeTwoFactor, icon: ShieldOff, run: () => void askToRemoveTwoFactor(account) }]
      : []),
    ...(account.emailVerified
      ? []
      : [{ label: text.confirmEmail, icon: MailCheck, run: () => void askToConfirmEmail(account) }]),
    null,
    account.disabled
      ? { label: text.enable, icon: CircleCheck, run: () => setDisabled.mutate({ account, disabled: false }) }
      : // Another administrator must disable this account, so that nobody locks themselves out.
        { label: text.disable, icon: Ban, disabled: isOwn(account), run: () => void askToDisable(account) },
    { label: text.delete, icon: Trash2, danger: true, disabled: isOwn(account), run: open("delete", account) },
  ];
  const close = () => setShown(undefined);
  const dialogs = (
    <>
      <AccountDialog shown={shown} onClose={close} />
      {link !== undefined && <LinkDialog title={link.title} link={link.link} onClose={() => setLink(undefined)} />}
    </>
  );
  return { itemsFor, dialogs };
}

function AccountDialog({ shown, onClose }: { readonly shown: OpenDialog | undefined; readonly onClose: () => void }) {
  return (
    <>
      {shown?.kind === "edit" && <EditUserDialog account={shown.account} onClose={onClose} />}
      {shown?.kind === "password" && <PasswordDialog account={shown.account} onClose={onClose} />}
      {shown?.kind === "access" && <AccessDialog account={shown.account} onClose={onClose} />}
      {shown?.kind === "delete" && <DeleteUserDialog account={shown.account} onClose={onClose} />}
    </>
  );
}
