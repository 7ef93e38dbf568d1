import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { RadioGroup } from "../../../ui/radio-group.tsx";
import { text } from "../text.ts";
import type { ConflictChoice, Upload } from "../engine/types.ts";
import { uploadEngine } from "../page-engine.ts";

/** Asks what to do about a name conflict, once for all if the person wants. Other uploads continue. */
export function ConflictDialog({
  upload,
  hasOthers,
  onLater,
}: {
  readonly upload: Upload;
  readonly hasOthers: boolean;
  readonly onLater: () => void;
}) {
  const [choice, setChoice] = useState<ConflictChoice>("rename");
  const [forAll, setForAll] = useState(false);
  return (
    <Dialog
      open
      isPersistent
      onClose={onLater}
      title={text.conflictTitle}
      description={text.conflictBody({ name: upload.name, folder: folderNameOf(upload) })}
      footer={
        <>
          <Button onClick={onLater}>{text.decideLater}</Button>
          <Button variant="primary" onClick={() => uploadEngine().resolveConflict(upload.id, choice, forAll)}>
            {text.proceed}
          </Button>
        </>
      }
    >
      <RadioGroup<ConflictChoice>
        label={text.choices}
        isLabelHidden
        value={choice}
        onChange={setChoice}
        options={[
          { value: "rename", label: text.keepBoth, hint: text.keepBothHint },
          { value: "version", label: text.newVersion, hint: text.newVersionHint },
          { value: "skip", label: text.skip, hint: text.skipHint },
        ]}
      />
      {hasOthers && (
        <div className="mt-3 border-t border-line pt-3">
          <Checkbox label={text.forAll} checked={forAll} onChange={setForAll} />
        </div>
      )}
    </Dialog>
  );
}

function folderNameOf({ folder, path }: Upload): string {
  const names = [...folder.split("/"), ...path.split("/").slice(0, -1)].filter((name) => name !== "");
  return names.at(-1) ?? text.home;
}
