import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError } from "../../api/http.ts";
import { invalidateTree } from "../../api/queries.ts";
import type { FileRecord } from "../../api/types.ts";
import { announce } from "../../base/announce.ts";
import { createFile } from "../../entries/editing/create-file.ts";
import { showError, toast } from "../../ui/toast.tsx";
import { readStored, saveDocument, type StoredText } from "./document.ts";
import { text } from "./text.ts";
import { writeFileText } from "./text-format.ts";

/** Why a text was not saved. */
export interface Conflict {
  /** The stored text that differs from the one that was opened; undefined if it can't be shown as text. */
  readonly theirs: StoredText | undefined;
  /** Whether the file was deleted, or its share does not allow changes any more. */
  readonly isLost: boolean;
  readonly mine: StoredText;
}

/** The reasons of a lost file. Without a copy, the changes would stay where nobody can open them. */
const LOST: ReadonlySet<string> = new Set(["not_found", "share_permission"]);

/** What saving changes in the editor. */
interface SaveOptions {
  readonly file: FileRecord;
  /** Where a copy is saved. */
  readonly copyFolder: string;
  /** The current text, with the ETag of the content that it was made from. */
  read(): StoredText | undefined;
  /** Called with the text as it is stored now. */
  onStored(stored: StoredText): void;
}

/** Saves a text as a new version, never over content that the person has not seen. */
export function useSave({ file, copyFolder, read, onStored }: SaveOptions) {
  const queryClient = useQueryClient();
  const [isSaving, setSaving] = useState(false);
  const [conflict, setConflict] = useState<Conflict>();
  const running = useRef<Promise<boolean>>(undefined);

  const store = async (mine: StoredText): Promise<boolean> => {
    try {
      const etag = await saveDocument(file, mine);
      setConflict(undefined);
      onStored({ ...mine, etag });
      announce(text.announceSaved({ name: file.name }));
      void invalidateTree(queryClient);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (LOST.has(error.reason ?? "")) {
        setConflict({ theirs: undefined, isLost: true, mine });
        return false;
      }
      if (error.reason !== "precondition_failed") throw error;
      const theirs = await readStored(file);
      if (typeof theirs === "object" && theirs.text === mine.text) {
        // The same text was saved before, for example by a request whose response was lost.
        onStored(theirs);
        return true;
      }
      setConflict({ theirs: typeof theirs === "object" ? theirs : undefined, isLost: false, mine });
      return false;
    }
  };
  const save = (): Promise<boolean> => {
    const mine = read();
    if (mine === undefined) return Promise.resolve(true);
    setSaving(true);
    // Two saves at once would be a conflict of the person with themselves.
    running.current ??= store(mine)
      .catch((error: unknown) => {
        showError(error);
        return false;
      })
      .finally(() => {
        running.current = undefined;
        setSaving(false);
      });
    return running.current;
  };
  return {
    isSaving,
    conflict,
    save,
    endConflict: () => setConflict(undefined),
    overwrite: async ({ theirs, mine }: Conflict) => {
      if (theirs !== undefined) await store({ ...mine, etag: theirs.etag });
    },
    saveCopy: async ({ mine }: Conflict) => {
      const content = new Blob([writeFileText(mine.text, mine.format)], { type: file.mimeType });
      const copy = await createFile({ name: file.name, folder: copyFolder, content, mayRename: true });
      toast({ text: text.copied({ name: copy.name }) });
      await invalidateTree(queryClient);
    },
  };
}
