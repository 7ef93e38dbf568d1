import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { text } from "../text.ts";

/** Tells that what another app shared was lost, since the browser had not begun to take it yet. */
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
