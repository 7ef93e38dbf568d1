import { useQuery } from "@tanstack/react-query";
import { FolderPlus } from "../../ui/icons.ts";
import { useState } from "react";
import type { Entry, FolderRecord } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/select.tsx";
import { contains, type Destination } from "../actions/bulk.ts";
import { text as archivesText } from "../archives/text.ts";
import { receivedQuery } from "../sharing/api.ts";
import { text as entryText } from "../text.ts";
import { text } from "./text.ts";
import { FolderTree, IN_DIALOG } from "../tree/folder-tree.tsx";
import { NewFolderDialog } from "./new-folder-dialog.tsx";

/** A tree of folders to choose from. */
interface Root {
  /** The received share; undefined for the own folders. */
  readonly share: string | undefined;
  readonly name: string;
  readonly label: string;
}

/** What the folder is chosen for. */
type DestinationVerb = "move" | "copy" | "extract";

/** The texts of each verb. */
const labelsOf = (verb: DestinationVerb) =>
  ({
    move: { title: text.moveTitle, choose: text.moveHere, root: text.copyInto },
    copy: { title: text.copyTitle, choose: text.copyHere, root: text.copyInto },
    extract: { title: () => archivesText.chooseTitle, choose: archivesText.chooseHere, root: archivesText.chooseRoot },
  })[verb];

interface DestinationDialogProps {
  readonly verb: DestinationVerb;
  readonly entries: readonly Entry[];
  /** The folder at which the chooser opens; undefined if the person can't see or change it. */
  readonly from: Destination | undefined;
  readonly makeFolder: (name: string, path: string, share: string | undefined) => Promise<FolderRecord>;
  readonly onChosen: (to: Destination) => void;
  readonly onClose: () => void;
}

/** Chooses the destination folder of a move, a copy, or an extraction. The person can create a folder on the way. */
export function DestinationDialog({ verb, entries, from, makeFolder, onChosen, onClose }: DestinationDialogProps) {
  // The copies of what others share are mostly for oneself.
  const [chosen, setChosen] = useState<Destination>(
    from === undefined || (verb === "copy" && from.share !== undefined) ? { folder: "/" } : from,
  );
  const { folder, share } = chosen;
  const roots = useRoots(verb, from?.share);
  const root = roots.find((one) => one.share === share);
  const [isCreating, setCreating] = useState(false);
  // The tree opens at the selected folder. After a folder was created, it is mounted again to show it.
  const [createdPath, setCreatedPath] = useState("");
  const isForbidden = (path: string) =>
    from !== undefined && share === from.share && entries.some((entry) => contains(entry, path));
  const isHere = verb === "move" && entries.every((entry) => entry.folder === folder);
  const problem = isForbidden(folder) ? entryText.intoItself : isHere ? entryText.alreadyHere : undefined;
  const choose = () => {
    onClose();
    onChosen(chosen);
  };
  const onCreated = (record: FolderRecord) => {
    setChosen({ folder: record.path, share });
    setCreatedPath(record.path);
    return record;
  };

  return (
    <Dialog
      open
      onClose={onClose}
      title={labelsOf(verb).title({ n: entries.length })}
      footer={
        <Footer
          label={labelsOf(verb).choose}
          onNewFolder={() => setCreating(true)}
          onChoose={problem === undefined ? choose : undefined}
          onClose={onClose}
        />
      }
    >
      {roots.length > 1 && <RootChooser label={labelsOf(verb).root} roots={roots} share={share} onChoose={setChosen} />}
      <FolderTree
        key={`${share} ${createdPath}`}
        {...IN_DIALOG}
        root={root}
        chosen={folder}
        onChoose={(path) => setChosen({ folder: path, share })}
        isForbidden={isForbidden}
      />
      <p className="mt-2 min-h-5 text-sm text-muted" aria-live="polite">
        {problem ?? pathOf(root, folder)}
      </p>
      {isCreating && (
        <NewFolderDialog
          make={(name) => makeFolder(name, folder, share).then(onCreated)}
          onClose={() => setCreating(false)}
        />
      )}
    </Dialog>
  );
}

/** A folder as the person sees it: the top of a share has a name. */
function pathOf(root: Root | undefined, folder: string): string {
  return root?.share === undefined ? folder : `${root.name}${folder === "/" ? "" : folder}`;
}

function Footer({
  label,
  onNewFolder,
  onChoose,
  onClose,
}: {
  readonly label: string;
  readonly onNewFolder: () => void;
  /** Undefined if the folder can't be chosen. */
  readonly onChoose: (() => void) | undefined;
  readonly onClose: () => void;
}) {
  return (
    <>
      <Button icon={FolderPlus} variant="quiet" className="me-auto" onClick={onNewFolder}>
        {entryText.newFolder}
      </Button>
      <Button onClick={onClose}>{text.cancel}</Button>
      <Button variant="primary" disabled={onChoose === undefined} onClick={onChoose}>
        {label}
      </Button>
    </>
  );
}

function RootChooser({
  label,
  roots,
  share,
  onChoose,
}: {
  readonly label: string;
  readonly roots: readonly Root[];
  readonly share: string | undefined;
  readonly onChoose: (top: Destination) => void;
}) {
  return (
    <Select
      label={label}
      className="mb-3"
      value={share ?? ""}
      onChange={(value) => onChoose({ folder: "/", share: value === "" ? undefined : value })}
      options={roots.map((root) => ({ value: root.share ?? "", label: root.label }))}
    />
  );
}

/** Where entries can go: moved ones stay in their root, copies and extracted files go to any that the person may change. */
function useRoots(verb: DestinationVerb, share: string | undefined): readonly Root[] {
  const { data: shares = [] } = useQuery({ ...receivedQuery, enabled: verb !== "move" || share !== undefined });
  const own: Root = { share: undefined, name: entryText.home, label: entryText.home };
  const received = shares.flatMap(({ id, folder, permissions, owner }): Root[] =>
    folder === undefined || permissions !== "write"
      ? []
      : [
          {
            share: id,
            name: folder.name,
            label: text.sharedRoot({ name: folder.name, owner: owner.name || owner.email }),
          },
        ],
  );
  if (verb !== "move") return [own, ...received];
  return share === undefined ? [own] : received.filter((root) => root.share === share);
}
