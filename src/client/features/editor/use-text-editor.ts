import { type RefObject, useEffect, useRef, useState } from "react";
import { showError } from "../../ui/toast.tsx";
import type { TextEditor } from "./code-mirror.ts";
import { text } from "./text.ts";

/** Options of {@link useTextEditor}. Only the callbacks may change later. */
interface TextEditorOptions {
  readonly fileName: string;
  readonly text: string;
  readonly hasMixedLineEnds: boolean;
  readonly isMarkdown: boolean;
  readonly isReadOnly: boolean;
  onChange(): void;
  onSave(): void;
}

/** Loads the editor and opens it in the element `host`. */
export function useTextEditor(options: TextEditorOptions): {
  readonly host: RefObject<HTMLDivElement | null>;
  readonly editor: RefObject<TextEditor | undefined>;
  readonly isReady: boolean;
} {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<TextEditor>(undefined);
  const [isReady, setReady] = useState(false);
  const [opening] = useState(options);
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    let isGone = false;
    const open = async () => {
      const { openTextEditor } = await import("./code-mirror.ts");
      if (isGone || host.current === null) return;
      editor.current = openTextEditor({
        ...opening,
        parent: host.current,
        label: text.label({ name: opening.fileName }),
        searchLabels: {
          next: text.findNext,
          previous: text.findPrevious,
          all: text.findAll,
          "match case": text.matchCase,
          regexp: text.regularExpression,
          "by word": text.wholeWords,
          replace: text.replace,
          "replace all": text.replaceAll,
          close: text.closeFind,
        },
        onChange: () => latest.current.onChange(),
        onSave: () => latest.current.onSave(),
      });
      editor.current.focus();
      setReady(true);
    };
    open().catch(showError);
    return () => {
      isGone = true;
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, [opening]);
  return { host, editor, isReady };
}
