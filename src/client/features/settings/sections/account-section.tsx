import { Link } from "@tanstack/react-router";
import { Import } from "lucide-react";
import { Download, Trash2 } from "../../../ui/icons.ts";
import { useState } from "react";
import { href, request } from "../../../api/http.ts";
import { useSession } from "../../../api/session.ts";
import { Button, buttonClassName } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { LinkButton } from "../../../ui/link-button.tsx";
import { text } from "../text.ts";
import { TypedConfirmDialog } from "../../../ui/typed-confirm-dialog.tsx";
import { openDocument } from "../../../base/overlays.ts";

/** Leads to the import, exports the account's data, and deletes the account. */
export function AccountSection() {
  const { user } = useSession();
  const [isErasing, setErasing] = useState(false);
  return (
    <>
      <Card title={text.importFiles} description={text.importLead}>
        <Link to="/settings/$section" params={{ section: "import" }} className={buttonClassName({})}>
          <Import aria-hidden size={18} />
          {text.toImport}
        </Link>
      </Card>
      <Card title={text.exportFiles} description={text.exportFilesLead}>
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
        <TypedConfirmDialog
          title={text.eraseTitle}
          description={text.eraseDescription({ email: user.email })}
          action={text.eraseAction}
          label={text.eraseConfirm({ email: user.email })}
          expected={user.email}
          run={async () => {
            await request("DELETE", "/api/users/profile");
            await openDocument(href("/sign-in"));
          }}
          onClose={() => setErasing(false)}
        />
      )}
    </>
  );
}
