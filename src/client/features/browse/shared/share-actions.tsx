import { useQueryClient } from "@tanstack/react-query";
import { Pencil, QrCode, Unlink } from "lucide-react";
import { type ReactNode, useState } from "react";
import { invalidateShares, revokeBody, revokeShare } from "../../../entries/sharing/api.ts";
import { QrDialog } from "../../../entries/sharing/qr-code.tsx";
import { ShareEditor } from "../../../entries/sharing/share-editor.tsx";
import { text } from "../../../entries/sharing/text.ts";
import { text as entriesText } from "../../../entries/text.ts";
import { confirm } from "../../../ui/confirm.tsx";
import { copyText } from "../../../ui/copy-field.tsx";
import { Copy, Eye } from "../../../ui/icons.ts";
import type { MenuEntry } from "../../../ui/menu-items.ts";
import { uiText } from "../../../ui/text.ts";
import { showError, toast } from "../../../ui/toast.tsx";
import type { OwnShare } from "./own-shares.tsx";

/** An action on the selected shares. */
export type ShareAction = MenuEntry & Required<Pick<MenuEntry, "icon" | "run">>;

/**
 * The actions on shares: those of a single one, and ending any number of them.
 * @param selected the only selected share
 * @param resolve all selected shares
 */
export function useShareActions(
  selected: OwnShare | undefined,
  {
    open,
    resolve,
    onDone,
  }: {
    open(entry: OwnShare): void;
    resolve(): Promise<readonly OwnShare[]>;
    /** Called with the ids of ended shares, also when a dialog closes (without any). */
    onDone(ids: readonly string[]): void;
  },
): { readonly actions: readonly ShareAction[]; readonly dialog: ReactNode } {
  const revoke = useRevoke();
  const [shown, setShown] = useState<{ readonly kind: "qr" | "edit"; readonly entry: OwnShare }>();
  const close = () => {
    setShown(undefined);
    onDone([]);
  };
  const end = () => void resolve().then(revoke).then(onDone).catch(showError);
  const { name = "", share } = shown?.entry ?? {};
  return {
    actions: [
      ...(selected === undefined ? [] : actionsOnOne(selected, open, (kind) => setShown({ kind, entry: selected }))),
      { label: text.revoke, icon: Unlink, keys: "delete", danger: true, run: end },
    ],
    dialog:
      share !== undefined &&
      (shown?.kind === "qr" ? (
        <QrDialog url={share.url} name={name} onClose={close} />
      ) : (
        <ShareEditor share={share} name={name} onClose={close} />
      )),
  };
}

function actionsOnOne(
  entry: OwnShare,
  open: (entry: OwnShare) => void,
  show: (kind: "qr" | "edit") => void,
): ShareAction[] {
  const { kind, url } = entry.share;
  const link: ShareAction[] = [
    { label: text.copyLink, icon: Copy, run: () => void copyLink(url) },
    { label: text.qr, icon: QrCode, run: () => show("qr") },
  ];
  return [
    { label: entriesText.open, icon: Eye, keys: "enter", run: () => open(entry) },
    ...(kind === "account" ? [] : link),
    // The link of a public file has no settings.
    ...(kind === "public" ? [] : [{ label: text.edit, icon: Pencil, run: () => show("edit") }]),
  ];
}

async function copyLink(url: string): Promise<void> {
  if (await copyText(url)) toast({ text: uiText.copied });
  else toast({ text: uiText.copyFailed, tone: "danger" });
}

/** Ends shares after a confirmation. The promise has the ids of the ended ones. */
function useRevoke() {
  const queryClient = useQueryClient();
  return async (entries: readonly OwnShare[]): Promise<string[]> => {
    const [first] = entries;
    if (first === undefined) return [];
    const body = revokeBody(first.share);
    const isSure = await confirm({
      title: text.revokeTitle,
      body: entries.length === 1 ? body : text.revokeMany({ n: entries.length }),
      action: text.revoke,
      danger: true,
    });
    if (!isSure) return [];
    const ended: string[] = [];
    try {
      for (const { id } of entries) {
        // oxlint-disable-next-line no-await-in-loop -- after a failure, the rest stays
        await revokeShare(id);
        ended.push(id);
      }
      toast({ text: text.revoked });
    } finally {
      await invalidateShares(queryClient);
    }
    return ended;
  };
}
