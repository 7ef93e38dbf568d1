import { Button } from "../../../ui/button.tsx";
import { CopyField } from "../../../ui/copy-field.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { formatDateTime } from "../../../base/format.ts";
import { text } from "../text.ts";
import type { PasswordLink } from "../types.ts";

/** Shows a link to set a password with, to copy. */
export function LinkDialog({
  title,
  link: { url, expiresAt },
  onClose,
}: {
  readonly title: string;
  readonly link: PasswordLink;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      open
      isPersistent
      onClose={onClose}
      title={title}
      description={text.resetLinkHint(formatDateTime(expiresAt))}
      footer={
        <Button variant="primary" onClick={onClose}>
          {text.done}
        </Button>
      }
    >
      <CopyField label={text.linkLabel} value={url} />
    </Dialog>
  );
}
