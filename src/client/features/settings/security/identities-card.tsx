import { Unlink } from "lucide-react";
import { Link2 } from "../../../ui/icons.ts";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { href } from "../../../base/address.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { formatDate } from "../../../base/format.ts";
import { toast } from "../../../ui/toast.tsx";
import { ActionDialog } from "../action-dialog.tsx";
import { useRefresh, useResource } from "../api.ts";
import { Loaded } from "../loaded.tsx";
import { Rows } from "../rows.tsx";
import { text } from "../text.ts";

/** The OIDC provider of this account: link and unlink. */
export function IdentitiesCard({ providerName }: { providerName: string }) {
  const identities = useResource("identities");
  const refresh = useRefresh();
  const [asking, setAsking] = useState<"link" | "unlink">();
  const close = () => setAsking(undefined);
  return (
    <Card title={text.identities(providerName)} description={text.identitiesLead(providerName)}>
      <Loaded query={identities}>
        {(data) =>
          data.identities.length === 0 ? (
            <div className="flex flex-col items-start gap-3">
              <p className="text-sm text-muted">{text.noIdentities}</p>
              <Button icon={Link2} onClick={() => setAsking("link")}>
                {text.link(providerName)}
              </Button>
            </div>
          ) : (
            <Rows
              label={text.identities(providerName)}
              rows={data.identities.map(({ issuer, createdAt }) => ({
                key: issuer,
                icon: <Link2 />,
                title: providerName,
                lines: [issuer, text.linkedSince(formatDate(createdAt))],
                actions: (
                  <Button icon={Unlink} onClick={() => setAsking("unlink")}>
                    {text.unlink}
                  </Button>
                ),
              }))}
            />
          )
        }
      </Loaded>
      {asking === "link" && (
        <ActionDialog
          title={text.link(providerName)}
          description={text.linkLead(providerName)}
          action={text.proceed}
          run={async () => {
            const body = { returnTo: href("/settings/security") };
            const { url } = await request<{ url: string }>("POST", "/api/auth/oidc/link", { body });
            window.location.assign(url);
          }}
          onClose={close}
        />
      )}
      {asking === "unlink" && (
        <ActionDialog
          title={text.unlinkTitle(providerName)}
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
