import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Inbox, Pencil, QrCode, Unlink } from "lucide-react";
import { Link2 } from "../../ui/icons.ts";
import { useState } from "react";
import type { ShareRecord } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { CopyField } from "../../ui/copy-field.tsx";
import { formatDate } from "../../base/format.ts";
import { toast, showError } from "../../ui/toast.tsx";
import { invalidateShares, recipientOf, revokeBody, revokeShare, updateShare } from "./api.ts";
import { ChipPicture } from "../../ui/chip-field.tsx";
import { Select } from "../../ui/select.tsx";
import { GroupPeople } from "./group-people.tsx";
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
  const confirmRevoke = () => {
    const body = revokeBody(share);
    confirmThen({ title: text.revokeTitle, body, action: text.revoke, danger: true }, revoke.mutate);
  };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-start gap-3">
        <Sign share={share} />
        <div className="min-w-0 flex-1">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
            <span className="font-medium break-words">{share.label ?? describeKind(share)}</span>
            {share.label !== null && <span className="text-muted">{describeKind(share)}</span>}
            <ShareBadges share={share} />
          </p>
          <p className="mt-0.5 text-sm text-muted">
            {[text.sharedAt({ when: formatDate(share.createdAt) }), describeCounts(share)]
              .filter((part) => part !== "")
              .join(" · ")}
          </p>
          {share.group !== null && <GroupPeople group={share.group} />}
        </div>
      </div>
      {isLink && <CopyField label={text.linkOf({ name })} value={share.url} />}
      <div className="flex flex-wrap items-center gap-2">
        {!isLink && share.album === undefined && <RightsMenu share={share} />}
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

/** The picture of the person or group, or the sign of a link. */
function Sign({ share }: { readonly share: ShareRecord }) {
  if (share.kind === "account") return <ChipPicture chip={recipientOf(share)} size={32} />;
  const Icon = share.kind === "upload" ? Inbox : Link2;
  return <Icon aria-hidden size={20} className="mt-0.5 shrink-0 text-muted" />;
}

/** What a person or the members of a group may do. A change applies at once. */
function RightsMenu({ share }: { readonly share: ShareRecord }) {
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: (permissions: "read" | "write") =>
      updateShare(share.id, { permissions, versions: permissions === "write" }),
    onSuccess: async () => {
      toast({ text: text.saved });
      await invalidateShares(queryClient);
    },
    onError: showError,
  });
  return (
    <Select
      label={text.rightsOf({ name: recipientOf(share).name })}
      isLabelHidden
      value={change.isPending ? change.variables : share.permissions === "write" ? "write" : "read"}
      onChange={change.mutate}
      options={[
        { value: "read", label: text.mayRead },
        { value: "write", label: text.mayWrite },
      ]}
    />
  );
}
