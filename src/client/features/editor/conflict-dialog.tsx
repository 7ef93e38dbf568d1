import { useMemo, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/cx.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { showError } from "../../ui/toast.tsx";
import { compareTexts, type ComparedLine } from "./compare.ts";
import type { StoredText } from "./document.ts";
import { text } from "./text.ts";

/** More lines than that are counted, not shown. */
const LINES_MAX = 1_000;

const SIGNS: Readonly<Record<ComparedLine["kind"], string>> = { equal: " ", theirs: "−", mine: "+", skipped: " " };

/** Shown if the file changed, or was lost, after it was opened: nothing is overwritten before the person decides. */
export function ConflictDialog({
  file,
  theirs,
  isLost,
  mine,
  onOverwrite,
  onCopy,
  onReload,
  onClose,
}: {
  readonly file: FileRecord;
  /** Undefined if the stored content can't be shown as text. */
  readonly theirs: StoredText | undefined;
  /** Whether the person can't save the file any more. */
  readonly isLost: boolean;
  readonly mine: string;
  readonly onOverwrite: () => Promise<void>;
  readonly onCopy: () => Promise<void>;
  readonly onReload: () => void;
  readonly onClose: () => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const run = (action: () => Promise<void>) => () => {
    setBusy(true);
    action()
      .catch(showError)
      .finally(() => setBusy(false));
  };
  return (
    <Dialog
      open
      isPersistent
      size="large"
      onClose={onClose}
      title={isLost ? text.lostTitle : text.conflictTitle}
      description={describe(file.name, theirs, isLost)}
      footer={
        <div className="flex flex-wrap justify-end gap-2">
          {theirs !== undefined && (
            <Button disabled={isBusy} onClick={onReload}>
              {text.reload}
            </Button>
          )}
          <Button busy={isBusy} variant={theirs === undefined ? "primary" : "secondary"} onClick={run(onCopy)}>
            {text.copy}
          </Button>
          {theirs !== undefined && (
            <Button variant="primary" busy={isBusy} onClick={run(onOverwrite)}>
              {text.overwrite}
            </Button>
          )}
        </div>
      }
    >
      {theirs !== undefined && (
        <>
          <Comparison theirs={theirs.text} mine={mine} />
          <p className="mt-2 text-sm text-muted">{text.overwriteHint}</p>
        </>
      )}
    </Dialog>
  );
}

function describe(name: string, theirs: StoredText | undefined, isLost: boolean): string {
  if (isLost) return text.lostLead({ name });
  return theirs === undefined ? text.conflictGone({ name }) : text.conflictLead({ name });
}

function Comparison({ theirs, mine }: { readonly theirs: string; readonly mine: string }) {
  const lines = useMemo(() => compareTexts(theirs, mine), [theirs, mine]);
  if (lines.length === 0) return <p>{text.same}</p>;
  const hidden = lines.length - LINES_MAX;
  return (
    <>
      <p className="mb-2 text-sm text-muted">{text.legend}</p>
      <section
        aria-label={text.compare}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- text without links must be scrollable by keyboard
        tabIndex={0}
        className="max-h-80 overflow-auto rounded-lg border border-line bg-sunken py-2 font-mono text-sm"
      >
        {lines.slice(0, LINES_MAX).map((line, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- the lines never change their order
          <Line key={at} line={line} />
        ))}
      </section>
      {hidden > 0 && <p className="mt-1 text-sm text-muted">{text.longDiff({ n: hidden })}</p>}
    </>
  );
}

function Line({ line: { kind, text: content } }: { readonly line: ComparedLine }) {
  return (
    <div
      className={cx(
        "px-3 break-words whitespace-pre-wrap",
        kind === "theirs" && "bg-danger-soft text-danger",
        kind === "mine" && "bg-success-soft text-success",
        kind === "skipped" && "text-muted",
      )}
    >
      {kind === "skipped" ? text.skipped : `${SIGNS[kind]} ${content}`}
    </div>
  );
}
