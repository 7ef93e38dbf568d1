import type { Schemas } from "../../api/generated.ts";
import { useStore } from "../../base/store.ts";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/cx.ts";
import { Progress } from "../../ui/progress.tsx";
import { cancelExtraction, runningExtractions } from "./running-extractions.ts";
import { text } from "./text.ts";

/** The progress of the extractions that this page began. */
export function ExtractionStatus({ className }: { readonly className?: string }) {
  const extractions = useStore(runningExtractions);
  if (extractions.length === 0) return null;
  return (
    <div
      role="status"
      className={cx("flex flex-col gap-3 rounded-xl border border-line bg-raised p-4 shadow-xl", className)}
    >
      {extractions.map((extraction) => (
        <div key={extraction.id}>
          <p className="mb-2 flex items-center justify-between gap-4 text-sm">
            <span className="min-w-0 break-words">{describe(extraction)}</span>
            <Button size="small" onClick={() => cancelExtraction(extraction)}>
              {text.cancel}
            </Button>
          </p>
          <Progress
            value={extraction.bytes === 0 ? undefined : extraction.bytesDone / extraction.bytes}
            label={describe(extraction)}
          />
        </div>
      ))}
    </div>
  );
}

function describe({ state, files, fileName }: Schemas["Extraction"]): string {
  if (state === "waiting") return text.waiting({ name: fileName });
  return files === 0 ? text.checking({ name: fileName }) : text.extracting({ name: fileName });
}
