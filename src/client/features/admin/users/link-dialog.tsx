import { formatDateTime } from "../../../base/format.ts";
import { CopyDialog } from "../../../ui/copy-dialog.tsx";
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
  const description = text.resetLinkHint({ until: formatDateTime(expiresAt) });
  return <CopyDialog title={title} description={description} label={text.linkLabel} value={url} onClose={onClose} />;
}
