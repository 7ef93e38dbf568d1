import { Button } from "../../../ui/button.tsx";
import { CopyField } from "../../../ui/copy-field.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { text } from "../text.ts";

/** Shows the signing secret of a webhook, which can't be shown again. */
export function SecretDialog({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog
      open
      isPersistent
      onClose={onClose}
      title={text.webhookReady}
      description={text.webhookSecretHint}
      footer={
        <Button variant="primary" onClick={onClose}>
          {text.done}
        </Button>
      }
    >
      <CopyField label={text.webhookSecret} value={secret} />
    </Dialog>
  );
}
