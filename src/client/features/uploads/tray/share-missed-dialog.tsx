import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { text } from "../text.ts";

/** Explains that shared files were lost, because the service worker was not running yet. */
export function ShareMissedDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog
      open
      isPersistent
      onClose={onClose}
      title={text.sharedMissedTitle}
      description={text.sharedMissedBody}
      footer={
        <Button variant="primary" onClick={onClose}>
          {text.sharedMissedClose}
        </Button>
      }
    />
  );
}
