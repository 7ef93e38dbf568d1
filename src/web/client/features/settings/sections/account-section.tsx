import { Download, Trash2 } from "../../../ui/icons.ts";
import { useState } from "react";
import { href, request } from "../../../api/http.ts";
import { useSession } from "../../../app/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { LinkButton } from "../../../ui/link-button.tsx";
import { ProofDialog } from "../proof-dialog.tsx";
import { text } from "../text.ts";

/** Taking everything along, and leaving. */
export function AccountSection() {
  const { user } = useSession();
  const [isErasing, setErasing] = useState(false);
  return (
    <>
      <Card title={text.takeAlong} description={text.takeAlongLead}>
        <div className="flex flex-col items-start gap-3 text-sm">
          <LinkButton href={href("/files")} icon={Download}>
            {text.toFiles}
          </LinkButton>
          <p className="text-muted">
            {text.exportLead} <code className="rounded bg-sunken px-1 font-mono">larder export</code>
          </p>
        </div>
      </Card>
      <Card title={text.eraseAccount} description={text.eraseLead}>
        <Button variant="danger" icon={Trash2} onClick={() => setErasing(true)}>
          {text.eraseAccount}
        </Button>
      </Card>
      {isErasing && (
        <ProofDialog
          title={text.eraseTitle}
          description={text.eraseDescription(user.email)}
          action={text.eraseAction}
          isDanger
          asksCode={false}
          run={async ({ currentPassword }) => {
            await request("DELETE", "/api/users/profile", { body: { password: currentPassword } });
            window.location.assign(href("/sign-in"));
          }}
          onClose={() => setErasing(false)}
        />
      )}
    </>
  );
}
