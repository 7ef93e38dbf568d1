import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { CopyField } from "./copy-field.tsx";
import { Dialog } from "./dialog.tsx";
import { uiText } from "./text.ts";

/** Shows a link or secret to copy. It can't be shown again, so a press outside does not close the dialog. */
export function CopyDialog(props: {
  readonly title: string;
  readonly description?: ReactNode;
  readonly label: string;
  readonly value: string;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      open
      isPersistent
      onClose={props.onClose}
      title={props.title}
      description={props.description}
      footer={
        <Button variant="primary" onClick={props.onClose}>
          {uiText.done}
        </Button>
      }
    >
      <CopyField label={props.label} value={props.value} />
    </Dialog>
  );
}
