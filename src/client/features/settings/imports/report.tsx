import { Link } from "@tanstack/react-router";
import { formatNumber } from "../../../base/format.ts";
import { folderParam } from "../../../entries/folder-address.ts";
import { type ImportRun, isActive } from "../../../entries/imports/states.ts";
import { buttonClassName } from "../../../ui/button.tsx";
import { DescriptionList } from "../../../ui/description-list.tsx";
import { FolderOpen, Image } from "../../../ui/icons.ts";
import { ProblemList } from "./problem-list.tsx";
import { text } from "./text.ts";

/** What an import has done so far, and what it did not import. */
export function Report({ run }: { readonly run: ImportRun }) {
  const { state, kind, folder, imported, importedBytes, problems } = run;
  const numbers = (["updated", "merged", "unchanged", "deleted"] as const).filter((name) => run[name] > 0);
  return (
    <div role="group" aria-label={text.report} className="flex flex-col gap-3">
      <DescriptionList
        isRuled
        items={[
          [text.imported, text.importedValue({ n: imported, size: importedBytes })],
          ...numbers.map((name) => [text[name], formatNumber(run[name])] as const),
        ]}
      />
      {problems.length > 0 && (
        <>
          <h3 className="text-sm font-semibold">{text.problems}</h3>
          <DescriptionList
            isRuled
            items={problems.map(({ reason, count }) => [text.reasons(reason), formatNumber(count)])}
          />
          {!isActive(run) && <ProblemList run={run} />}
        </>
      )}
      {state === "completed" && problems.length === 0 && <p className="text-sm text-muted">{text.nothingLeftOut}</p>}
      {imported > 0 && (
        <div className="flex flex-wrap gap-2">
          <FolderLink folder={folder} />
          {kind !== "nextcloud" && (
            <Link to="/photos" className={buttonClassName({})}>
              <Image aria-hidden size={18} />
              {text.openPhotos}
            </Link>
          )}
        </div>
      )}
    </div>
  );
}

function FolderLink({ folder }: { readonly folder: string }) {
  const address = folder === "/" ? { to: "/files" } : { to: "/files/$", params: { _splat: folderParam(folder) } };
  return (
    <Link {...address} className={buttonClassName({})}>
      <FolderOpen aria-hidden size={18} />
      {text.openFolder}
    </Link>
  );
}
