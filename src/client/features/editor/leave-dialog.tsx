import { useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { text } from "./text.ts";

/** Asks what to do with unsaved changes. */
export function LeaveDialog({
  name,
  onSave,
  onDiscard,
  onClose,
}: {
  readonly name: string;
  readonly onSave: () => Promise<void>;
  readonly onDiscard: () => void;
  readonly onClose: () => void;
}) {
  const stay = useRef<HTMLButtonElement>(null);
  const [isBusy, setBusy] = useState(false);
  const save = () => {
    setBusy(true);
    void onSave().finally(() => setBusy(false));
  };
  return (
    <Dialog
      open
      role="alertdialog"
      hasClose={false}
      onClose={onClose}
      title={text.leaveTitle}
      initialFocus={stay}
      footer={
        <div className="flex flex-wrap justify-end gap-2">
          <Button ref={stay} onClick={onClose}>
            {text.leaveStay}
          </Button>
          <Button variant="danger" disabled={isBusy} onClick={onDiscard}>
            {text.leaveDiscard}
          </Button>
          <Button variant="primary" busy={isBusy} onClick={save}>
            {text.leaveSave}
          </Button>
        </div>
      }
    >
      <p className="text-sm break-words text-muted">{text.leaveBody({ name })}</p>
    </Dialog>
  );
}
