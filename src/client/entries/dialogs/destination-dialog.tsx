import { FolderPlus } from "../../ui/icons.ts";
import { useState } from "react";
import type { Entry, FolderRecord } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { contains } from "../actions/bulk.ts";
import { text } from "../text.ts";
import { FolderTree } from "./folder-tree.tsx";
import { NewFolderDialog } from "./new-folder-dialog.tsx";

/** Chooses the folder that a move or copy goes to; a folder can be made on the way. */
export function DestinationDialog({
  verb,
  entries,
  count,
  from,
  makeFolder,
  onChosen,
  onClose,
}: {
  readonly verb: "move" | "copy";
  /** What is known of what goes there. */
  readonly entries: readonly Entry[];
  readonly count: number;
  /** The folder that is shown. */
  readonly from: string;
  readonly makeFolder: (name: string, path: string) => Promise<FolderRecord>;
  readonly onChosen: (folder: string) => void;
  readonly onClose: () => void;
}) {
  const [folder, setFolder] = useState(from);
  const [isCreating, setCreating] = useState(false);
  // A tree begins opened down to what is chosen: with a folder that was made it begins anew.
  const [createdPath, setCreatedPath] = useState("");
  const isForbidden = (path: string) => entries.some((entry) => contains(entry, path));
  const isCurrentFolder = verb === "move" && entries.length > 0 && entries.every((entry) => entry.folder === folder);
  const problem = isForbidden(folder) ? text.intoItself : isCurrentFolder ? text.alreadyHere : undefined;

  return (
    <Dialog
      open
      onClose={onClose}
      title={verb === "move" ? text.moveTitle(count) : text.copyTitle(count)}
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
            {verb === "move" ? text.moveHere : text.copyHere}
          </Button>
        </>
      }
    >
      <FolderTree key={createdPath} chosen={folder} onChoose={setFolder} isBarred={isForbidden} />
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
