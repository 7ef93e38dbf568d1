import { useRef, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import type { EditorCommand } from "./code-mirror.ts";
import type { StoredText } from "./document.ts";
import type { Draft } from "./drafts.ts";
import { useDraft } from "./use-draft.ts";
import { useTextEditor } from "./use-text-editor.ts";

/** What the editor opens. */
interface EditedTextOptions {
  readonly file: FileRecord;
  readonly content: StoredText;
  readonly draft: Draft | undefined;
  readonly isMarkdown: boolean;
  readonly isReadOnly: boolean;
  /** Called for Ctrl+S in the text. */
  onSave(): void;
}

/** The text in the editor: what is stored, what has changed since, and what is kept in this browser. */
export function useEditedText({ file, content, draft, isMarkdown, isReadOnly, onSave }: EditedTextOptions) {
  const isRestored = draft !== undefined && draft.text !== content.text;
  const start = isRestored ? draft : content;
  /** The text that was opened or stored last. */
  const base = useRef<StoredText>({ ...content, ...(isRestored && { etag: draft.etag, format: draft.format }) });
  const [isDirty, setDirty] = useState(isRestored);
  const [isStored, setStored] = useState(false);
  const [shownText, setShownText] = useState(start.text);
  const [restored, setRestored] = useState(
    isRestored ? { changedAtMs: draft.changedAtMs, isOld: draft.etag !== content.etag } : undefined,
  );

  const { host, editor, isReady } = useTextEditor({
    fileName: file.name,
    text: start.text,
    hasMixedLineEnds: start.format.lineEnd === "mixed",
    isMarkdown,
    isReadOnly,
    onSave,
    onChange: () => {
      const current = readText();
      if (isMarkdown) setShownText(current);
      setDirty(current !== base.current.text);
      noteChange();
    },
  });
  const readText = () => editor.current?.text() ?? start.text;
  /** The changed text, with the ETag of the content that it was made from; undefined without changes. */
  const read = (): StoredText | undefined => {
    const current = readText();
    return current === base.current.text ? undefined : { ...base.current, text: current };
  };
  const { hasFailed: hasDraftFailed, noteChange, forget } = useDraft(file.id, read);

  return {
    host,
    isReady,
    isDirty,
    isStored,
    shownText,
    restored,
    hasDraftFailed,
    read,
    forget,
    run: (command: EditorCommand) => editor.current?.run(command),
    /** Call when a text was stored. The person may have typed on since. */
    noteStored: (stored: StoredText) => {
      base.current = stored;
      setStored(true);
      setRestored(undefined);
      const isSame = readText() === stored.text;
      setDirty(!isSame);
      if (isSame) void forget();
      else noteChange();
    },
    /** Drops the changes and shows the stored text. */
    discard: (stored: StoredText = content) => {
      base.current = stored;
      editor.current?.replace(stored.text);
      setShownText(stored.text);
      setRestored(undefined);
      setDirty(false);
      void forget();
    },
  };
}
