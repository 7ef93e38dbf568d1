/*
 * The text editor: CodeMirror in a shadow root. In a document, CodeMirror adds its styles as a style element, which the
 * content security policy forbids. In a shadow root, it adds them as a style sheet.
 */
import { defaultKeymap, history, historyKeymap, indentWithTab, redo, undo } from "@codemirror/commands";
import { markdownKeymap, markdownLanguage } from "@codemirror/lang-markdown";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { findMode } from "./code-modes.ts";

/** Commands of the toolbar. */
export type EditorCommand = "undo" | "redo" | "find" | "bold" | "italic" | "heading" | "list" | "link";

/** A text editor in the page. */
export interface TextEditor {
  text(): string;
  /** Replaces the whole text, as one step that can be undone. */
  replace(text: string): void;
  run(command: EditorCommand): void;
  focus(): void;
  destroy(): void;
}

/** Options of {@link openTextEditor}. */
interface TextEditorOptions {
  /** The element that the editor fills. */
  readonly parent: HTMLElement;
  readonly text: string;
  readonly fileName: string;
  readonly isMarkdown: boolean;
  /** Whether the text contains line ends of several kinds, which must stay as they are. */
  readonly hasMixedLineEnds: boolean;
  readonly isReadOnly: boolean;
  /** The accessible name. */
  readonly label: string;
  /** What CodeMirror's search calls its fields and buttons, by its own words for them. */
  readonly searchLabels: Readonly<Record<string, string>>;
  onChange(): void;
  onSave(): void;
}

/** Opens the editor, and gives it the focus. */
export function openTextEditor(options: TextEditorOptions): TextEditor {
  const { parent, text, hasMixedLineEnds } = options;
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
  root.replaceChildren();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        extensionsFor(options),
        // With one separator, the other characters are part of the text, and are written back.
        hasMixedLineEnds ? EditorState.lineSeparator.of("\n") : [],
      ],
    }),
  });
  // Outside of the shadow root, a key looks like one that is not typed into a field. Escape and Tab are for the page too.
  const keepKeys = (event: KeyboardEvent) => {
    if (event.key !== "Tab") event.stopPropagation();
  };
  parent.addEventListener("keydown", keepKeys);
  return {
    text: () => view.state.sliceDoc(),
    replace: (next) => {
      const insert = view.state.toText(next);
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } });
    },
    run: (command) => {
      COMMANDS[command](view);
      // The panel of the search has its own field.
      if (command !== "find") view.focus();
    },
    focus: () => view.focus(),
    destroy: () => {
      parent.removeEventListener("keydown", keepKeys);
      view.destroy();
    },
  };
}

function extensionsFor(options: TextEditorOptions): Extension {
  const { fileName, isMarkdown, isReadOnly, label, searchLabels, onChange, onSave } = options;
  const save = () => {
    onSave();
    return true;
  };
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightActiveLine(),
    highlightSpecialChars(),
    highlightSelectionMatches(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    search({ top: true }),
    EditorState.phrases.of(searchLabels),
    EditorView.lineWrapping,
    isMarkdown ? [markdownLanguage, keymap.of(markdownKeymap)] : (findMode(fileName) ?? []),
    syntaxHighlighting(COLORS),
    // Tab indents. After Escape, it leaves the editor.
    keymap.of([
      { key: "Mod-s", run: save, preventDefault: true },
      ...searchKeymap,
      ...historyKeymap,
      ...defaultKeymap,
      indentWithTab,
    ]),
    EditorView.contentAttributes.of({
      "aria-label": label,
      spellcheck: isMarkdown ? "true" : "false",
      // Also a text that can only be read is scrolled by keyboard.
      tabindex: "0",
    }),
    EditorState.readOnly.of(isReadOnly),
    EditorView.updateListener.of(({ docChanged }) => {
      if (docChanged) onChange();
    }),
    THEME,
  ];
}

const COMMANDS: Readonly<Record<EditorCommand, (view: EditorView) => unknown>> = {
  undo,
  redo,
  find: openSearchPanel,
  bold: (view) => surround(view, "**"),
  italic: (view) => surround(view, "_"),
  heading: (view) => beginLines(view, "# "),
  list: (view) => beginLines(view, "- "),
  link: (view) => surround(view, "[", "](https://)"),
};

/** Puts marks around each selection. */
function surround(view: EditorView, before: string, after = before): void {
  view.dispatch(
    view.state.changeByRange((range) => ({
      changes: [
        { from: range.from, insert: before },
        { from: range.to, insert: after },
      ],
      range: EditorSelection.range(range.from + before.length, range.to + before.length),
    })),
    { userEvent: "input" },
  );
}

/** Puts a mark at the beginning of each selected line. */
function beginLines(view: EditorView, mark: string): void {
  const { doc, selection } = view.state;
  const starts = new Set<number>();
  for (const { from, to } of selection.ranges) {
    for (let at = doc.lineAt(from); ; at = doc.line(at.number + 1)) {
      starts.add(at.from);
      if (at.to >= to) break;
    }
  }
  view.dispatch({ changes: [...starts].map((from) => ({ from, insert: mark })), userEvent: "input" });
}

const COLORS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--accent)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--success)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--warning)" },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: "var(--muted)" },
  { tag: [tags.typeName, tags.className, tags.definition(tags.variableName)], color: "var(--focus)" },
  { tag: [tags.tagName, tags.attributeName, tags.propertyName], color: "var(--focus)" },
  { tag: tags.heading, color: "var(--accent)", fontWeight: "700" },
  { tag: tags.strong, fontWeight: "700" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: [tags.link, tags.url], color: "var(--accent)", textDecoration: "underline" },
  { tag: tags.monospace, color: "var(--success)" },
  { tag: tags.invalid, color: "var(--danger)" },
]);

const THEME = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--raised)", fontSize: "0.9375rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono, ui-monospace, monospace)", lineHeight: "1.6" },
  ".cm-content": { padding: "0.75rem 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 1rem 0 0.5rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent-soft) 35%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--accent-soft)", color: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--focus) 30%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-soft)" },
  ".cm-searchMatch": { backgroundColor: "var(--warning-soft)", outline: "1px solid var(--warning)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--accent-soft)" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "0.5rem", fontFamily: "var(--font-sans, sans-serif)", fontSize: "0.875rem" },
  ".cm-panel.cm-search label": {
    display: "inline-flex",
    alignItems: "center",
    gap: "0.375rem",
    minHeight: "2rem",
    fontSize: "inherit",
  },
  ".cm-panel.cm-search input[type=checkbox]": { width: "1rem", height: "1rem", accentColor: "var(--accent)" },
  ".cm-textfield": {
    fontFamily: "inherit",
    fontSize: "inherit",
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "0.375rem",
    minHeight: "2rem",
    padding: "0 0.5rem",
  },
  ".cm-button": {
    fontFamily: "inherit",
    fontSize: "inherit",
    padding: "0 0.75rem",
    backgroundImage: "none",
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "0.375rem",
    minHeight: "2rem",
  },
  ".cm-panel.cm-search [name=close]": { color: "var(--ink)", fontSize: "1.25rem", minWidth: "2rem" },
  // What a finger can hit, in few rows, as the keyboard leaves little of the page. Phones enlarge the page for fields with
  // smaller letters.
  "@media (pointer: coarse)": {
    ".cm-button, .cm-textfield": { minHeight: "2.75rem" },
    ".cm-panel.cm-search label": { minHeight: "2.25rem" },
    ".cm-textfield": { fontSize: "1rem", width: "8rem" },
    ".cm-panel.cm-search [name=select]": { display: "none" },
    ".cm-panel.cm-search [name=close]": { minWidth: "2.75rem", minHeight: "2.75rem" },
  },
});
