import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { byPage } from "../../../api/queries.ts";
import { followLink } from "../../../base/follow-link.ts";
import { countProblems, type ImportRun } from "../../../entries/imports/states.ts";
import { Button } from "../../../ui/button.tsx";
import { Download } from "../../../ui/icons.ts";
import { PagedList } from "../../../ui/paged-list.tsx";
import { showError } from "../../../ui/toast.tsx";
import { type ImportProblem, readProblems } from "./api.ts";
import { toCsv } from "./problem-file.ts";
import { text } from "./text.ts";

const PAGE_SIZE = 50;
/** The most that the API returns at once. */
const DOWNLOAD_PAGE_SIZE = 200;
/** The most that the server stores of each import. */
const STORED_MAX = 1_000;

/** What an import did not import, one by one, with buttons to show and to download it. */
export function ProblemList({ run }: { readonly run: ImportRun }) {
  const [isShown, setShown] = useState(false);
  const download = useMutation({ mutationFn: () => saveProblems(run.id), onError: showError });
  return (
    <>
      {countProblems(run) > STORED_MAX && <p className="text-sm text-muted">{text.firstOnly({ n: STORED_MAX })}</p>}
      <div className="flex flex-wrap gap-2">
        <Button size="small" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? text.hideList : text.showList}
        </Button>
        <Button size="small" icon={Download} busy={download.isPending} onClick={() => download.mutate()}>
          {text.download}
        </Button>
      </div>
      {isShown && <Problems run={run} />}
    </>
  );
}

function Problems({ run }: { readonly run: ImportRun }) {
  const query = useInfiniteQuery({
    queryKey: ["imports", "problems", run.id, run.changedAt],
    queryFn: ({ pageParam, signal }) => readProblems(run.id, pageParam, PAGE_SIZE, signal),
    ...byPage,
  });
  const problems = query.data?.pages.flatMap((page) => page.problems) ?? [];
  return (
    <PagedList query={query} isEmpty={problems.length === 0} empty={null}>
      <ul aria-label={text.list} className="divide-y divide-line text-sm">
        {problems.map(({ name, reason, message }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- names can be equal, and none moves
          <li key={index} className="py-2 wrap-anywhere">
            <p className="flex flex-wrap justify-between gap-x-4">
              <bdi className="font-medium">{name}</bdi>
              <span className="text-muted">{text.reasons(reason)}</span>
            </p>
            <p dir="auto" className="text-muted">
              {message}
            </p>
          </li>
        ))}
      </ul>
    </PagedList>
  );
}

/** Reads the whole list, page by page, and saves it as a file. */
async function saveProblems(id: string): Promise<void> {
  const problems: ImportProblem[] = [];
  for (let page = 1, hasNext = true; hasNext; page++) {
    const list = await readProblems(id, page, DOWNLOAD_PAGE_SIZE);
    problems.push(...list.problems);
    hasNext = list.pagination.hasNext;
  }
  // With a byte order mark, without which some office programs read another encoding.
  const address = URL.createObjectURL(new Blob(["\u{FEFF}", toCsv(problems)], { type: "text/csv;charset=utf-8" }));
  followLink(address, `${text.fileName}.csv`);
  URL.revokeObjectURL(address);
}
