import { Unlink } from "lucide-react";
import { Link2 } from "../../../ui/icons.ts";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { href } from "../../../base/address.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { formatDate } from "../../../base/format.ts";
import { toast } from "../../../ui/toast.tsx";
import { ActionDialog } from "../../../ui/action-dialog.tsx";
import { useRefresh, useList } from "../api.ts";
import { Rows } from "../rows.tsx";
import { text } from "../text.ts";
import { LoadedList } from "../../../ui/loaded.tsx";
import { openDocument } from "../../../base/overlays.ts";

/** The OIDC provider of this account: link and unlink. */
export function IdentitiesCard({ providerName }: { providerName: string }) {
  const identities = useList("identities");
  const refresh = useRefresh();
  const [dialog, setDialog] = useState<"link" | "unlink">();
  const close = () => setDialog(undefined);
  return (
    <Card
      title={text.identities({ provider: providerName })}
      description={text.identitiesLead({ provider: providerName })}
    >
      <LoadedList
        query={identities}
        empty={
          <div className="flex flex-col items-start gap-3">
            <p className="text-sm text-muted">{text.noIdentities}</p>
            <Button icon={Link2} onClick={() => setDialog("link")}>
              {text.link({ provider: providerName })}
            </Button>
          </div>
        }
      >
        {(items) => (
          <Rows
            label={text.identities({ provider: providerName })}
            rows={items.map(({ issuer, createdAt }) => ({
              key: issuer,
              icon: <Link2 />,
              title: providerName,
              lines: [issuer, text.linkedSince({ date: formatDate(createdAt) })],
              actions: (
                <Button icon={Unlink} onClick={() => setDialog("unlink")}>
                  {text.unlink}
                </Button>
              ),
            }))}
          />
        )}
      </LoadedList>
      {dialog === "link" && (
        <ActionDialog
          title={text.link({ provider: providerName })}
          description={text.linkLead({ provider: providerName })}
          action={text.proceed}
          run={async () => {
            const body = { returnTo: href("/settings/security") };
            const { url } = await request<{ url: string }>("POST", "/api/auth/oidc/link", { body });
            await openDocument(url);
          }}
          onClose={close}
        />
      )}
      {dialog === "unlink" && (
        <ActionDialog
          title={text.unlinkTitle({ provider: providerName })}
          description={text.unlinkLead}
          action={text.unlink}
          isDanger
          run={async () => {
            await request("DELETE", "/api/auth/oidc/link");
            toast({ text: text.unlinked, tone: "success" });
            await refresh("identities");
          }}
          onClose={close}
        />
      )}
    </Card>
  );
}
