import { Bold, Heading, Italic, Link, List, type LucideIcon, Redo2, Undo2 } from "lucide-react";
import { Search } from "../../ui/icons.ts";
import { cx } from "../../ui/cx.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import type { EditorCommand } from "./code-mirror.ts";
import { text } from "./text.ts";

interface Tool {
  readonly command: EditorCommand;
  readonly label: string;
  readonly icon: LucideIcon;
}

/** The tools of the editor: above the text, on phones below it, where the keyboard begins. */
export function EditorTools({
  isMarkdown,
  isReadOnly,
  hasPreview,
  onCommand,
}: {
  readonly isMarkdown: boolean;
  readonly isReadOnly: boolean;
  readonly hasPreview: boolean;
  readonly onCommand: (command: EditorCommand) => void;
}) {
  const changes: readonly Tool[] = [
    { command: "undo", label: text.undo, icon: Undo2 },
    { command: "redo", label: text.redo, icon: Redo2 },
  ];
  const marks: readonly Tool[] = [
    { command: "bold", label: text.bold, icon: Bold },
    { command: "italic", label: text.italic, icon: Italic },
    { command: "heading", label: text.heading, icon: Heading },
    { command: "list", label: text.list, icon: List },
    { command: "link", label: text.link, icon: Link },
  ];
  const find: Tool = { command: "find", label: text.find, icon: Search };
  const tools = isReadOnly ? [find] : [...changes, ...(isMarkdown ? marks : []), find];
  return (
    <div
      role="toolbar"
      aria-label={text.tools}
      className={cx(
        "order-last flex overflow-x-auto border-t border-line bg-raised px-2 py-1 sm:order-none sm:border-t-0 sm:border-b sm:px-4",
        // On narrow screens the preview covers the text, which nobody should change unseen.
        hasPreview && "max-[60rem]:hidden",
      )}
    >
      {tools.map(({ command, label, icon }) => (
        <IconButton
          key={command}
          label={label}
          icon={icon}
          // The text keeps the focus, and with it the keyboard of a phone.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onCommand(command)}
        />
      ))}
    </div>
  );
}
