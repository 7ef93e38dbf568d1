import { CircleCheck, Pause, Play } from "lucide-react";
import { RotateCw, TriangleAlert, X } from "../../../ui/icons.ts";
import { folderAddress, href } from "../../../base/address.ts";
import { Button } from "../../../ui/button.tsx";
import { cx } from "../../../ui/cx.ts";
import { FileIcon } from "../../../ui/file-icon.tsx";
import { IconButton } from "../../../ui/icon-button.tsx";
import { Progress } from "../../../ui/progress.tsx";
import { text } from "../text.ts";
import { ENDED_STATES, OPEN_STATES, BLOCKED_STATES, type Upload } from "../engine/types.ts";
import { uploadEngine } from "../page-engine.ts";

/** One upload: its name, progress, problem and actions. */
export function UploadRow({ upload, onDecide }: { readonly upload: Upload; readonly onDecide: () => void }) {
  const { state, name, path, mimeType, sent, size } = upload;
  const isBlocked = BLOCKED_STATES.has(state);
  const isBar = OPEN_STATES.has(state) || state === "paused";
  return (
    <div className="flex min-h-16 items-center gap-3 border-b border-line py-1.5 ps-4 pe-2">
      <FileIcon mimeType={mimeType} />
      <div className="min-w-0 flex-1">
        <p className="truncate text-sm" title={path}>
          {state === "done" ? <StoredLink upload={upload} /> : name}
        </p>
        {isBar && (
          <Progress
            className="my-1"
            label={text.fileProgress({ name })}
            value={size === 0 ? 0 : sent / size}
            tone={state === "stalled" || state === "signedOut" ? "warning" : "accent"}
          />
        )}
        <p className={cx("text-xs break-words", isBlocked ? "text-danger" : "text-muted")}>
          {isBlocked && <TriangleAlert aria-hidden size={12} className="me-1 inline" />}
          {statusText(upload)}
        </p>
      </div>
      <RowActions upload={upload} onDecide={onDecide} />
    </div>
  );
}

/** A link to the folder that contains the file. */
function StoredLink({ upload }: { upload: Upload }) {
  const below = upload.path.split("/").slice(0, -1).join("/");
  const folder = below === "" ? upload.folder : `${upload.folder === "/" ? "" : upload.folder}/${below}`;
  const label = text.show({ name: upload.name });
  if (upload.share !== undefined) return upload.name;
  return (
    <a href={href(folderAddress(folder))} aria-label={label} className="underline-offset-2 hover:underline">
      {upload.name}
    </a>
  );
}

function RowActions({ upload, onDecide }: { upload: Upload; onDecide: () => void }) {
  const engine = uploadEngine();
  const { id, name, state } = upload;
  return (
    <div className="flex shrink-0 items-center">
      {state === "conflict" && (
        <Button size="small" variant="quiet" aria-label={text.decide({ name })} onClick={onDecide}>
          {text.decideShort}
        </Button>
      )}
      {OPEN_STATES.has(state) && (
        <IconButton label={text.pause({ name })} icon={Pause} iconSize={18} onClick={() => engine.pause(id)} />
      )}
      {state === "paused" && (
        <IconButton label={text.resume({ name })} icon={Play} iconSize={18} onClick={() => engine.resume(id)} />
      )}
      {(state === "failed" || state === "stalled") && (
        <IconButton label={text.retry({ name })} icon={RotateCw} iconSize={18} onClick={() => engine.resume(id)} />
      )}
      {state === "done" && <CircleCheck aria-label={text.done} role="img" size={20} className="mx-2 text-success" />}
      <IconButton
        label={ENDED_STATES.has(state) ? text.remove({ name }) : text.cancel({ name })}
        icon={X}
        iconSize={18}
        onClick={() => engine.cancel(id)}
      />
    </div>
  );
}

function statusText(upload: Upload): string {
  const { state, sent, size, problem } = upload;
  if (problem !== undefined) return problem;
  switch (state) {
    case "waiting":
      return text.waiting;
    case "finishing":
      return text.finishing;
    case "paused":
      return `${text.paused} · ${text.progressOf({ sent, size })}`;
    case "skipped":
      return text.skipped;
    case "done":
      return text.done;
    case "sending":
      return sent === 0 ? text.starting : text.progressOf({ sent, size });
    case "stalled":
    case "signedOut":
    case "conflict":
    case "missing":
    case "failed":
      return text.failed;
  }
}
