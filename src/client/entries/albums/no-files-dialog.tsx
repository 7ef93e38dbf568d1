import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { text } from "./text.ts";

/** Explains that a selection without files can't be in an album. */
export function NoFilesDialog({ title, onClose }: { readonly title: string; readonly onClose: () => void }) {
  return (
    <Dialog
      open
      size="small"
      onClose={onClose}
      title={title}
      footer={
        <Button variant="primary" onClick={onClose}>
          {text.ok}
        </Button>
      }
    >
      <p className="text-sm text-muted">{text.noFiles}</p>
    </Dialog>
  );
}
