import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Folder } from "../../../ui/icons.ts";
import { TextField } from "../../../ui/text-field.tsx";
import { FolderDialog } from "./folder-dialog.tsx";
import { text } from "./text.ts";

/** Where the files go, and which of them. */
export interface Target {
  readonly folder: string;
  readonly restoreDeleted: boolean;
}

/** The fields for a {@link Target}. */
export function TargetFields({
  target,
  error,
  onChange,
}: {
  readonly target: Target;
  readonly error: string | undefined;
  readonly onChange: (target: Target) => void;
}) {
  const [isChoosing, setChoosing] = useState(false);
  const setFolder = (folder: string) => onChange({ ...target, folder });
  return (
    <>
      <div className="flex flex-wrap items-start gap-2">
        <TextField
          label={text.target}
          hint={text.targetHint}
          error={error}
          autoComplete="off"
          dir="auto"
          value={target.folder}
          onChange={setFolder}
          className="min-w-0 flex-1 basis-56"
        />
        <Button icon={Folder} className="sm:mt-6" onClick={() => setChoosing(true)}>
          {text.otherFolder}
        </Button>
      </div>
      <Checkbox
        label={text.restoreDeleted}
        hint={text.restoreDeletedHint}
        checked={target.restoreDeleted}
        onChange={(restoreDeleted) => onChange({ ...target, restoreDeleted })}
      />
      {isChoosing && (
        <FolderDialog
          title={text.chooseTarget}
          folder={target.folder}
          onChosen={setFolder}
          onClose={() => setChoosing(false)}
        />
      )}
    </>
  );
}
