import { useState } from "react";
import { text as runText } from "../../../entries/imports/text.ts";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Field } from "../../../ui/field.tsx";
import { Folder } from "../../../ui/icons.ts";
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
      <Field label={text.target} hint={text.targetHint} error={error}>
        {(ids) => (
          <div className="flex flex-wrap gap-2">
            <input
              {...ids}
              type="text"
              autoComplete="off"
              dir="auto"
              value={target.folder}
              onChange={(event) => setFolder(event.target.value)}
              className="field control min-w-0 flex-1 basis-52"
            />
            <Button icon={Folder} onClick={() => setChoosing(true)}>
              {text.otherFolder}
            </Button>
          </div>
        )}
      </Field>
      <Checkbox
        label={runText.restoreDeleted}
        hint={runText.restoreDeletedHint}
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
