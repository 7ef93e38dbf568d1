import { type ReactNode, useState } from "react";
import { useCanWrite } from "../../api/session.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { text as entryText } from "../text.ts";
import { text } from "./text.ts";
import { FolderTree, IN_DIALOG } from "../tree/folder-tree.tsx";

/** What a program may see and do. */
export interface ProgramAccess {
  readonly isReadOnly: boolean;
  /** The only folder it sees; undefined for all files, `/` while none is chosen yet. */
  readonly folder: string | undefined;
}

/** The choice of an access: at first all that the account itself may do. */
export function useProgramAccess() {
  const isReadOnly = !useCanWrite();
  return useState<ProgramAccess>({ isReadOnly, folder: undefined });
}

/** Whether a folder is still to be chosen. */
export function lacksFolder({ folder }: ProgramAccess): boolean {
  return folder === "/";
}

/** The fields of the API for this access. */
export function accessFields({ isReadOnly, folder }: ProgramAccess) {
  return { access: isReadOnly ? "read" : "write", ...(folder !== undefined && { folder }) } as const;
}

/** Chooses what a program may see and do. A read-only account can give read-only access only. */
export function AccessFields({
  value,
  onChange,
}: {
  readonly value: ProgramAccess;
  readonly onChange: (value: ProgramAccess) => void;
}): ReactNode {
  const canWrite = useCanWrite();
  const { isReadOnly, folder } = value;
  return (
    <div className="flex flex-col items-start gap-2">
      <Checkbox
        label={text.readOnly}
        hint={canWrite ? text.readOnlyHint : text.readOnlyAccount}
        checked={isReadOnly}
        disabled={!canWrite}
        onChange={(isChecked) => onChange({ ...value, isReadOnly: isChecked })}
      />
      <Checkbox
        label={text.oneFolder}
        hint={text.oneFolderHint}
        checked={folder !== undefined}
        onChange={(isChecked) => onChange({ ...value, folder: isChecked ? "/" : undefined })}
      />
      {folder !== undefined && (
        <div className="w-full">
          <FolderTree
            {...IN_DIALOG}
            chosen={folder}
            onChoose={(chosen) => onChange({ ...value, folder: chosen })}
            isForbidden={(path) => path === "/"}
          />
          <p className="mt-1 min-h-5 text-sm break-words text-muted" aria-live="polite">
            {lacksFolder(value) ? entryText.chooseFolder : folder}
          </p>
        </div>
      )}
    </div>
  );
}
