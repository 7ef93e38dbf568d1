/** What deeds tell while they run and where they failed: one place for all pages. */
import { useState } from "react";
import { createStore, useStore } from "../../base/store.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Progress } from "../../ui/progress.tsx";
import { text } from "../text.ts";

interface Running {
  readonly title: string;
  readonly done: number;
  readonly of: number | undefined;
}

interface Failure {
  readonly name: string;
  readonly message: string;
}

const running = createStore<Running | undefined>(undefined);
const failures = createStore<readonly Failure[]>([]);

/** Shows that a long deed runs; undefined: it is over. */
export function showRunning(deed: Running | undefined): void {
  running.set(deed);
}

/** Shows what could not be done, each with its reason. */
export function showFailures(list: readonly Failure[]): void {
  failures.set(list);
}

/** The dialogs of deeds; each page with deeds has it once. */
export function DeedStatus() {
  const deed = useStore(running);
  return (
    <>
      {deed !== undefined && (
        <div
          role="status"
          className="fixed inset-x-4 bottom-36 z-40 mx-auto max-w-sm rounded-xl border border-line bg-raised p-4 shadow-xl sm:bottom-6"
        >
          <p className="mb-2 flex justify-between gap-4 text-sm">
            <span>{deed.title}</span>
            {deed.of !== undefined && <span className="text-muted">{text.progress(deed.done, deed.of)}</span>}
          </p>
          <Progress value={deed.of === undefined ? undefined : deed.done / deed.of} label={deed.title} />
        </div>
      )}
      <Failures />
    </>
  );
}

/** More reasons than these tell nothing new. */
const MOST_SHOWN = 200;

/** What could not be done; drawn from the first failure on, and with the last ones while it closes. */
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
      title={text.failedTitle(shown.length)}
      description={text.failedHint}
      footer={<Button onClick={close}>{text.close}</Button>}
    >
      <ul className="flex max-h-80 flex-col gap-2 overflow-y-auto text-sm" tabIndex={-1}>
        {shown.slice(0, MOST_SHOWN).map(({ name, message }) => (
          <li key={`${name} ${message}`}>
            <span className="block font-medium break-words">{name}</span>
            <span className="block text-muted">{message}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
