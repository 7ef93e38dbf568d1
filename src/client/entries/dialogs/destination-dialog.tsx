import { FolderPlus } from "../../ui/icons.ts";
import { useState } from "react";
import type { Entry, FolderRecord } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { holds } from "../actions/bulk.ts";
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
  const [isMaking, setMaking] = useState(false);
  // A tree begins opened down to what is chosen: with a folder that was made it begins anew.
  const [made, setMade] = useState("");
  const isBarred = (path: string) => entries.some((entry) => holds(entry, path));
  const isWhereTheyAre = verb === "move" && entries.length > 0 && entries.every((entry) => entry.folder === folder);
  const refusal = isBarred(folder) ? text.intoItself : isWhereTheyAre ? text.alreadyHere : undefined;

  return (
    <Dialog
      open
      onClose={onClose}
      title={verb === "move" ? text.moveTitle(count) : text.copyTitle(count)}
      footer={
        <>
          <Button icon={FolderPlus} variant="quiet" className="me-auto" onClick={() => setMaking(true)}>
            {text.newFolder}
          </Button>
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button
            variant="primary"
            disabled={refusal !== undefined}
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
      <FolderTree key={made} chosen={folder} onChoose={setFolder} isBarred={isBarred} />
      <p className="mt-2 min-h-5 text-sm text-muted" aria-live="polite">
        {refusal ?? folder}
      </p>
      {isMaking && (
        <NewFolderDialog
          make={async (name) => {
            const record = await makeFolder(name, folder);
            setFolder(record.path);
            setMade(record.path);
            return record;
          }}
          onClose={() => setMaking(false)}
        />
      )}
    </Dialog>
  );
}
