import { Save } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { useSession } from "../../api/session.ts";
import { formatDateTime } from "../../base/format.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { previewKind } from "../../entries/preview/kind.ts";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/cx.ts";
import { HasAddress } from "../../ui/dialog.tsx";
import { FileIcon } from "../../ui/file-icon.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Eye, X } from "../../ui/icons.ts";
import { Notice } from "../../ui/notice.tsx";
import { toast } from "../../ui/toast.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import type { OpenedDocument, StoredText } from "./document.ts";
import type { Draft } from "./drafts.ts";
import { EditorTools } from "./editor-tools.tsx";
import { LeaveDialog } from "./leave-dialog.tsx";
import { MarkdownPreview } from "./markdown-preview.tsx";
import { text } from "./text.ts";
import { useEditedText } from "./use-edited-text.ts";
import { useLeaveGuard } from "./use-leave-guard.ts";
import { useSave } from "./use-save.ts";
import { useVisibleHeight } from "./use-visible-height.ts";

/** From this width on, the preview of Markdown is beside the text. */
const WIDE = window.matchMedia("(min-width: 60rem)");

/** The editor with its tools, messages, and dialogs. */
export function EditorScreen({
  opened: { file, ownerId, editing },
  content,
  draft,
}: {
  readonly opened: OpenedDocument;
  readonly content: StoredText;
  readonly draft: Draft | undefined;
}) {
  const isReadOnly = !editing.canWrite;
  const isMarkdown = previewKind(file) === "markdown";
  const save = useRef<() => void>(undefined);
  const edited = useEditedText({
    file,
    content,
    draft: isReadOnly ? undefined : draft,
    isMarkdown,
    isReadOnly,
    onSave: () => save.current?.(),
  });
  // A copy of a file of somebody else is one's own.
  const copyFolder = useSession().user.id === ownerId ? file.folder : "/";
  const saving = useSave({ file, copyFolder, read: edited.read, onStored: edited.noteStored });
  const guard = useLeaveGuard(edited.isDirty, file.folder);
  const [hasPreview, setPreview] = useState(isMarkdown && WIDE.matches);
  const screen = useVisibleHeight();
  useEffect(() => {
    save.current = () => void saving.save();
  });
  useShortcuts(text.shortcuts, [{ keys: "mod+s", label: text.save, run: () => void saving.save() }]);

  return (
    <main ref={screen} className="flex h-dvh flex-col bg-raised text-ink">
      <Header
        file={file}
        status={isReadOnly ? text.readOnly : describeStatus(edited, saving.isSaving)}
        onClose={guard.close}
      >
        {isMarkdown && (
          <IconButton
            label={text.preview}
            icon={Eye}
            aria-pressed={hasPreview}
            onClick={() => setPreview(!hasPreview)}
          />
        )}
        {!isReadOnly && (
          <Button variant="primary" icon={Save} busy={saving.isSaving} onClick={() => void saving.save()}>
            {text.save}
          </Button>
        )}
      </Header>
      <Messages editing={editing} edited={edited} />
      <EditorTools isMarkdown={isMarkdown} isReadOnly={isReadOnly} hasPreview={hasPreview} onCommand={edited.run} />
      <div className="flex min-h-0 flex-1">
        <div
          ref={edited.host}
          className={cx("min-w-0 flex-1 overflow-hidden", hasPreview && "max-[60rem]:hidden")}
          data-editor={edited.isReady ? "ready" : "loading"}
        />
        {hasPreview && <MarkdownPreview file={file} source={edited.shownText} />}
      </div>
      <EditorDialogs file={file} edited={edited} saving={saving} guard={guard} />
    </main>
  );
}

type EditedText = ReturnType<typeof useEditedText>;

/** The dialogs about a conflict and about unsaved changes. */
function EditorDialogs({
  file,
  edited,
  saving,
  guard,
}: {
  readonly file: FileRecord;
  readonly edited: EditedText;
  readonly saving: ReturnType<typeof useSave>;
  readonly guard: ReturnType<typeof useLeaveGuard>;
}) {
  const { conflict } = saving;
  const take = (stored: StoredText | undefined) => {
    saving.endConflict();
    edited.discard(stored);
  };
  return (
    <>
      {conflict !== undefined && (
        <ConflictDialog
          file={file}
          theirs={conflict.theirs}
          isLost={conflict.isLost}
          mine={conflict.mine.text}
          onOverwrite={() => saving.overwrite(conflict)}
          onCopy={async () => {
            await saving.saveCopy(conflict);
            take(conflict.theirs);
            if (conflict.theirs === undefined) guard.leave();
          }}
          onReload={() => {
            take(conflict.theirs);
            toast({ text: text.reloaded });
          }}
          onClose={saving.endConflict}
        />
      )}
      {/* Back must ask again, not close the question. */}
      <HasAddress value={true}>
        {guard.isAsking && conflict === undefined && (
          <LeaveDialog
            name={file.name}
            onSave={async () => {
              if (await saving.save()) guard.leave();
            }}
            onDiscard={() => void edited.forget().then(guard.leave)}
            onClose={guard.stay}
          />
        )}
      </HasAddress>
    </>
  );
}

function describeStatus({ isDirty, isStored }: EditedText, isSaving: boolean): string {
  if (isSaving) return text.saving;
  if (isDirty) return text.unsaved;
  return isStored ? text.saved : text.unchanged;
}

function Header({
  file,
  status,
  onClose,
  children,
}: {
  readonly file: FileRecord;
  readonly status: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  return (
    <header className="flex items-center gap-2 border-b border-line px-2 py-1.5 sm:px-4">
      <FileIcon mimeType={file.mimeType} className="hidden sm:block" />
      <div className="min-w-0 flex-1">
        <h1 className="truncate text-sm font-medium sm:text-base">{file.name}</h1>
        <p role="status" className="text-xs text-muted">
          {status}
        </p>
      </div>
      {children}
      <IconButton label={text.close} icon={X} onClick={onClose} />
    </header>
  );
}

/** What the person should know before they type. */
function Messages({
  editing: { canWrite, lock },
  edited,
}: {
  readonly editing: OpenedDocument["editing"];
  readonly edited: EditedText;
}) {
  const messages: ReactNode[] = [];
  if (!canWrite) messages.push(<Notice key="read-only">{text.readOnlyHint}</Notice>);
  if (canWrite && lock !== null) {
    // Only programs of the person themselves are named.
    const who = lock.program ?? lock.person ?? text.someProgram;
    messages.push(
      <Notice key="lock" tone="danger">
        {text.locked({ who, until: formatDateTime(lock.expiresAt) })}
      </Notice>,
    );
  }
  if (edited.hasDraftFailed) {
    messages.push(
      <Notice key="draft" tone="danger">
        {text.draftFailed}
      </Notice>,
    );
  }
  const { restored } = edited;
  if (restored !== undefined) {
    const when = formatDateTime(new Date(restored.changedAtMs).toISOString());
    messages.push(
      <Notice key="restored">
        <span className="flex flex-wrap items-center gap-3">
          {restored.isOld ? text.restoredOld({ when }) : text.restored({ when })}
          <Button size="small" onClick={() => edited.discard()}>
            {text.discardRestored}
          </Button>
        </span>
      </Notice>,
    );
  }
  if (messages.length === 0) return null;
  return <div className="flex flex-col gap-2 px-2 py-2 sm:px-4">{messages}</div>;
}
