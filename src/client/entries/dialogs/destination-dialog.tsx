import { FolderPlus } from "../../ui/icons.ts";
import { useState } from "react";
import type { Entry, FolderRecord } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { contains } from "../actions/bulk.ts";
import { text as archivesText } from "../archives/text.ts";
import { text } from "../text.ts";
import { FolderTree, IN_DIALOG } from "../tree/folder-tree.tsx";
import { NewFolderDialog } from "./new-folder-dialog.tsx";

/** What the folder is chosen for. */
type DestinationVerb = "move" | "copy" | "extract";

const LABELS = {
  move: { title: text.moveTitle, choose: text.moveHere },
  copy: { title: text.copyTitle, choose: text.copyHere },
  extract: { title: () => archivesText.chooseTitle, choose: archivesText.chooseHere },
} as const;

/** Chooses the destination folder of a move, a copy, or an extraction. The person can create a folder on the way. */
export function DestinationDialog({
  verb,
  entries,
  count,
  from,
  makeFolder,
  onChosen,
  onClose,
}: {
  readonly verb: DestinationVerb;
  /** The loaded entries of the selection. */
  readonly entries: readonly Entry[];
  readonly count: number;
  /** The folder at which the dialog opens. */
  readonly from: string;
  readonly makeFolder: (name: string, path: string) => Promise<FolderRecord>;
  readonly onChosen: (folder: string) => void;
  readonly onClose: () => void;
}) {
  const [folder, setFolder] = useState(from);
  const [isCreating, setCreating] = useState(false);
  // The tree opens at the selected folder. After a folder was created, it is mounted again to show it.
  const [createdPath, setCreatedPath] = useState("");
  const isForbidden = (path: string) => entries.some((entry) => contains(entry, path));
  const isCurrentFolder = verb === "move" && entries.length > 0 && entries.every((entry) => entry.folder === folder);
  const problem = isForbidden(folder) ? text.intoItself : isCurrentFolder ? text.alreadyHere : undefined;

  return (
    <Dialog
      open
      onClose={onClose}
      title={LABELS[verb].title(count)}
      footer={
        <>
          <Button icon={FolderPlus} variant="quiet" className="me-auto" onClick={() => setCreating(true)}>
            {text.newFolder}
          </Button>
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button
            variant="primary"
            disabled={problem !== undefined}
            onClick={() => {
              onClose();
              onChosen(folder);
            }}
          >
            {LABELS[verb].choose}
          </Button>
        </>
      }
    >
      <FolderTree key={createdPath} {...IN_DIALOG} chosen={folder} onChoose={setFolder} isForbidden={isForbidden} />
      <p className="mt-2 min-h-5 text-sm text-muted" aria-live="polite">
        {problem ?? folder}
      </p>
      {isCreating && (
        <NewFolderDialog
          make={async (name) => {
            const record = await makeFolder(name, folder);
            setFolder(record.path);
            setCreatedPath(record.path);
            return record;
          }}
          onClose={() => setCreating(false)}
        />
      )}
    </Dialog>
  );
}
