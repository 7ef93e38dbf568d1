import { useState } from "react";
import { FolderTree, IN_DIALOG } from "../../../entries/tree/folder-tree.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { uiText } from "../../../ui/text.ts";
import { text } from "./text.ts";

/** Lets the person choose one of the own folders. */
export function FolderDialog({
  title,
  folder,
  onChosen,
  onClose,
}: {
  readonly title: string;
  /** The folder at which the tree opens. */
  readonly folder: string;
  readonly onChosen: (folder: string) => void;
  readonly onClose: () => void;
}) {
  const [chosen, setChosen] = useState(folder);
  const choose = () => {
    onClose();
    onChosen(chosen);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>{uiText.cancel}</Button>
          <Button variant="primary" onClick={choose}>
            {text.chooseHere}
          </Button>
        </>
      }
    >
      <FolderTree {...IN_DIALOG} chosen={chosen} onChoose={setChosen} />
      <p className="mt-2 min-h-5 text-sm wrap-anywhere text-muted" aria-live="polite">
        {chosen}
      </p>
    </Dialog>
  );
}
