/** The progress and the failures of actions on entries, in one place for all pages. */
import { useState } from "react";
import { createStore, useStore } from "../../base/store.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Progress } from "../../ui/progress.tsx";
import { ExtractionStatus } from "../archives/extraction-status.tsx";
import { text } from "../text.ts";

interface RunningAction {
  readonly title: string;
  readonly done: number;
  readonly of: number | undefined;
}

interface FailedEntry {
  readonly name: string;
  readonly message: string;
}

const running = createStore<RunningAction | undefined>(undefined);
const failures = createStore<readonly FailedEntry[]>([]);

/** Shows the progress of a long action; undefined hides it. */
export function showRunning(action: RunningAction | undefined): void {
  running.set(action);
}

/** Shows the entries that an action failed for, each with the reason. */
export function showFailures(list: readonly FailedEntry[]): void {
  failures.set(list);
}

/** The progress box and the failures dialog; once in each page that has actions. */
export function ActionStatus() {
  const action = useStore(running);
  return (
    <>
      <ExtractionStatus className="fixed inset-x-4 bottom-36 z-40 mx-auto max-w-sm sm:bottom-6" />
      {action !== undefined && (
        <div
          role="status"
          className="fixed inset-x-4 bottom-36 z-40 mx-auto max-w-sm rounded-xl border border-line bg-raised p-4 shadow-xl sm:bottom-6"
        >
          <p className="mb-2 flex justify-between gap-4 text-sm">
            <span>{action.title}</span>
            {action.of !== undefined && (
              <span className="text-muted">{text.progress({ done: action.done, of: action.of })}</span>
            )}
          </p>
          <Progress value={action.of === undefined ? undefined : action.done / action.of} label={action.title} />
        </div>
      )}
      <Failures />
    </>
  );
}

/** Longer lists of failures add nothing. */
const LISTED_MAX = 200;

/** The dialog of failures. It keeps the last ones while it closes. */
function Failures() {
  const failed = useStore(failures);
  const [shown, setShown] = useState(failed);
  if (failed.length > 0 && shown !== failed) setShown(failed);
  if (shown.length === 0) return null;
  const close = () => failures.set([]);
  return (
    <Dialog
      open={failed.length > 0}
      onClose={close}
      title={text.failedTitle({ n: shown.length })}
      description={text.failedHint}
      footer={<Button onClick={close}>{text.close}</Button>}
    >
      <ul className="flex max-h-80 flex-col gap-2 overflow-y-auto text-sm" tabIndex={-1}>
        {shown.slice(0, LISTED_MAX).map(({ name, message }) => (
          <li key={`${name} ${message}`}>
            <span className="block font-medium break-words">{name}</span>
            <span className="block text-muted">{message}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
