import { useEffect, useRef, useState } from "react";
import { useCanWrite } from "../../../api/session.ts";
import type { ImportRun } from "../../../entries/imports/states.ts";
import { StateBadge } from "../../../entries/imports/state-badge.tsx";
import { text as runText } from "../../../entries/imports/text.ts";
import { Card } from "../../../ui/card.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { LoadMore } from "../../../ui/load-more.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { RadioGroup } from "../../../ui/radio-group.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { useImports } from "./api.ts";
import { OtherServices, SOURCES, type SourceName, Steps } from "./guide.tsx";
import { History } from "./history.tsx";
import { describeRun, RunDetails } from "./run-details.tsx";
import { ServerForm } from "./server-form.tsx";
import { TakeoutForm } from "./takeout-form.tsx";
import { text } from "./text.ts";

/** Imports from other services: the last one with its progress, a form for a new one, and earlier ones. */
export function ImportSection() {
  const { query, runs, isRunning } = useImports();
  const canWrite = useCanWrite();
  const [startedId, setStartedId] = useState<string>();
  if (runs === undefined) {
    return query.isError ? (
      <ErrorState error={query.error} onRetry={() => void query.refetch()} />
    ) : (
      <Skeleton className="h-48" />
    );
  }
  const [last, ...earlier] = runs;
  return (
    <>
      {last !== undefined && <LastRun key={last.id} run={last} isStartedHere={last.id === startedId} />}
      <Card title={text.title} description={text.lead}>
        {!canWrite ? (
          <Notice>{text.readOnly}</Notice>
        ) : isRunning ? (
          <p className="text-sm text-muted">{text.onlyOne}</p>
        ) : (
          <NewImport onStarted={setStartedId} />
        )}
      </Card>
      <History runs={earlier} />
      <LoadMore
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onLoad={() => void query.fetchNextPage()}
      />
    </>
  );
}

/** The newest import. */
function LastRun({ run, isStartedHere }: { readonly run: ImportRun; readonly isStartedHere: boolean }) {
  const region = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button that had the focus was removed with its form.
    if (isStartedHere) region.current?.focus();
  }, [isStartedHere]);
  return (
    <div ref={region} tabIndex={-1} className="rounded-2xl">
      <Card
        title={text.runTitle({ kind: runText.kind(run.kind) })}
        description={<span className="wrap-anywhere">{describeRun(run)}</span>}
        actions={
          <span role="status">
            <StateBadge state={run.state} />
          </span>
        }
      >
        <RunDetails run={run} />
      </Card>
    </div>
  );
}

/** The services to choose from, and the steps and the form for the chosen one. */
function NewImport({ onStarted }: { readonly onStarted: (id: string) => void }) {
  const [source, setSource] = useState<SourceName>("takeout");
  return (
    <div className="grid gap-6 md:grid-cols-[15rem_minmax(0,1fr)]">
      <RadioGroup
        label={text.from}
        value={source}
        onChange={setSource}
        options={SOURCES.map((value) => ({ value, label: text.source(value), hint: text.sourceHint(value) }))}
      />
      <section aria-label={text.howTo({ source: text.source(source) })} className="flex min-w-0 flex-col gap-5">
        <Steps source={source} />
        {source === "takeout" && <TakeoutForm onStarted={onStarted} />}
        {(source === "nextcloud" || source === "immich") && (
          <ServerForm key={source} kind={source} onStarted={onStarted} />
        )}
        {source === "other" && <OtherServices />}
      </section>
    </div>
  );
}
