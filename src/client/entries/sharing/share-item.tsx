import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Inbox, Pencil, QrCode, Unlink, UserRound } from "lucide-react";
import { Link2 } from "../../ui/icons.ts";
import { useState } from "react";
import type { ShareRecord } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { CopyField } from "../../ui/copy-field.tsx";
import { formatDate } from "../../base/format.ts";
import { toast, showError } from "../../ui/toast.tsx";
import { invalidateShares, revokeShare } from "./api.ts";
import { QrDialog } from "./qr-code.tsx";
import { ShareEditor } from "./share-editor.tsx";
import { describeCounts, describeKind, ShareBadges } from "./share-state.tsx";
import { text } from "./text.ts";
import { confirmThen } from "../../ui/confirm.tsx";

/** One share with its link, statistics and actions. */
export function ShareItem({ share, name }: { readonly share: ShareRecord; readonly name: string }) {
  const queryClient = useQueryClient();
  const [shown, setShown] = useState<"qr" | "edit">();
  const revoke = useMutation({
    mutationFn: () => revokeShare(share.id),
    onSuccess: async () => {
      toast({ text: text.revoked });
      await invalidateShares(queryClient);
    },
    onError: showError,
  });
  const isLink = share.kind !== "account";
  const Icon = share.kind === "upload" ? Inbox : share.kind === "account" ? UserRound : Link2;
  const confirmRevoke = () => {
    const body = isLink ? text.revokeLink : text.revokePerson(share.user ?? "");
    confirmThen({ title: text.revokeTitle, body, action: text.revoke, danger: true }, revoke.mutate);
  };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-start gap-3">
        <Icon aria-hidden size={20} className="mt-0.5 shrink-0 text-muted" />
        <div className="min-w-0 flex-1">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
            <span className="font-medium break-words">{share.label ?? describeKind(share)}</span>
            {share.label !== null && <span className="text-muted">{describeKind(share)}</span>}
            <ShareBadges share={share} />
          </p>
          <p className="mt-0.5 text-sm text-muted">
            {[text.sharedAt(formatDate(share.createdAt)), describeCounts(share)]
              .filter((part) => part !== "")
              .join(" · ")}
          </p>
        </div>
      </div>
      {isLink && <CopyField label={text.linkOf(name)} value={share.url} />}
      <div className="flex flex-wrap gap-2">
        {isLink && (
          <Button size="small" icon={QrCode} onClick={() => setShown("qr")}>
            {text.qr}
          </Button>
        )}
        {share.kind !== "public" && (
          <Button size="small" icon={Pencil} onClick={() => setShown("edit")}>
            {text.edit}
          </Button>
        )}
        <Button size="small" icon={Unlink} busy={revoke.isPending} onClick={confirmRevoke}>
          {text.revoke}
        </Button>
      </div>
      {share.kind === "public" && <p className="text-sm text-muted">{text.publicHint}</p>}
      {shown === "qr" && <QrDialog url={share.url} name={name} onClose={() => setShown(undefined)} />}
      {shown === "edit" && <ShareEditor share={share} name={name} onClose={() => setShown(undefined)} />}
    </div>
  );
}
