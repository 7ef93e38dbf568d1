import { Pause, Play } from "lucide-react";
import { useState } from "react";
import { formatRelative } from "../../../base/format.ts";
import { confirmCancel } from "../../../entries/imports/confirm-cancel.ts";
import {
  filesText,
  type ImportRun,
  isActive,
  isCancelable,
  isPausable,
  isResumable,
  progressOf,
} from "../../../entries/imports/states.ts";
import { text as runText } from "../../../entries/imports/text.ts";
import { Button } from "../../../ui/button.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Progress } from "../../../ui/progress.tsx";
import { toast } from "../../../ui/toast.tsx";
import { useChangeImport } from "./api.ts";
import { Report } from "./report.tsx";
import { ResumeDialog } from "./resume-dialog.tsx";
import { text } from "./text.ts";

/** The progress of an import, what can be done with it, and its result. */
export function RunDetails({ run }: { readonly run: ImportRun }) {
  const isOpen = isActive(run) || isCancelable(run);
  return (
    <div className="flex flex-col gap-4">
      {run.message !== null && (
        <Notice tone={run.state === "failed" ? "danger" : "info"}>
          <span dir="auto" className="wrap-anywhere">
            {run.message}
          </span>
        </Notice>
      )}
      {isOpen && <RunProgress run={run} />}
      <Hints run={run} />
      {isOpen && <Actions run={run} />}
      {(run.found > 0 || run.state === "completed") && <Report run={run} />}
    </div>
  );
}

/** What an import copies from where to where, and when. */
export function describeRun({ source, folder, createdAt, endedAt }: ImportRun): string {
  const time =
    endedAt === null
      ? text.startedAt({ when: formatRelative(createdAt) })
      : text.endedAt({ when: formatRelative(endedAt) });
  return `${source} · ${text.intoFolder({ folder })} · ${time}`;
}

function RunProgress({ run }: { readonly run: ImportRun }) {
  const { foundBytes, totalBytes } = run;
  return (
    <div className="flex flex-col gap-1.5">
      <p className="flex flex-wrap justify-between gap-x-4 text-sm">
        <span>{filesText(run)}</span>
        {totalBytes !== null && totalBytes > 0 && (
          <span className="text-muted">{runText.bytesOf({ found: foundBytes, total: totalBytes })}</span>
        )}
      </p>
      <Progress
        label={text.progress}
        value={isActive(run) ? progressOf(run) : (progressOf(run) ?? 0)}
        tone={run.state === "failed" ? "danger" : isActive(run) ? "accent" : "warning"}
      />
    </div>
  );
}

function Hints({ run: { state, origin } }: { readonly run: ImportRun }) {
  const hint = text.stateHint(state, "");
  const by = origin === "command" ? text.byCommand : origin === "administrator" ? text.byAdministrator : "";
  const all = [hint, by].filter((each) => each !== "").join(" ");
  return all !== "" && <p className="text-sm text-muted">{all}</p>;
}

function Actions({ run }: { readonly run: ImportRun }) {
  const [isAsking, setAsking] = useState(false);
  const pause = useChangeImport(run, "pause");
  const resume = useChangeImport(run, "resume");
  const cancel = useChangeImport(run, "cancel", () => toast({ text: runText.canceled }));
  // A wrong password or key is a common cause of a failure.
  const asksForSecret = run.needsSecret || (run.state === "failed" && hasSecret(run));
  return (
    <div className="flex flex-wrap gap-2">
      {isResumable(run) && (
        <Button
          variant="primary"
          icon={Play}
          busy={resume.isPending}
          onClick={() => (asksForSecret ? setAsking(true) : resume.mutate())}
        >
          {text.resume}
        </Button>
      )}
      {isPausable(run) && (
        <Button icon={Pause} busy={pause.isPending} onClick={() => pause.mutate()}>
          {text.pause}
        </Button>
      )}
      {isCancelable(run) && (
        <Button busy={cancel.isPending} onClick={() => confirmCancel(() => cancel.mutate())}>
          {runText.cancel}
        </Button>
      )}
      {isAsking && <ResumeDialog run={run} onClose={() => setAsking(false)} />}
    </div>
  );
}

/** Whether an import signs in to another server. Administrators import only what is on the machine. */
function hasSecret({ kind, origin }: ImportRun): boolean {
  return kind !== "takeout" && origin === "account";
}
