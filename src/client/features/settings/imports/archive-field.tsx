import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useId, useState } from "react";
import { request } from "../../../api/http.ts";
import { keys, live } from "../../../api/queries.ts";
import type { FileRecord, Listing } from "../../../api/types.ts";
import { formatBytes, formatDate, formatList } from "../../../base/format.ts";
import { withMember } from "../../../base/sets.ts";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { FolderOpen, Upload } from "../../../ui/icons.ts";
import { LoadedList } from "../../../ui/loaded.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { DropZone } from "../../uploads/drop-zone.tsx";
import { uploads } from "../../uploads/uploads.ts";
import { isArchive, isTakeout, missingParts, TAKEOUT_PREFIX } from "./archives.ts";
import { FolderDialog } from "./folder-dialog.tsx";
import { text } from "./text.ts";

/** Where archives are uploaded to. */
const UPLOAD_FOLDER = "/Takeout";
/** An import takes at most 200 archives: two pages of a list. */
const PAGES = [1, 2] as const;
const PAGE_SIZE = 100;

/** The archives in a folder; without one, those in all folders that have the names of Google. */
export function useArchives(folder: string | undefined): UseQueryResult<readonly FileRecord[]> {
  const part = folder === undefined ? { search: TAKEOUT_PREFIX } : { folder };
  const isShown = folder === undefined ? isTakeout : isArchive;
  return useQuery({
    queryKey: keys.listing(folder ?? "/", "archives", folder === undefined),
    queryFn: async ({ signal }) => {
      const lists = await Promise.all(
        PAGES.map((page) =>
          request<Listing>("GET", "/api/files", {
            query: { ...part, type: "file", sort: "natural", page, limit: PAGE_SIZE },
            signal,
          }),
        ),
      );
      return lists.flatMap(({ files }) =>
        files.filter((file): file is FileRecord => file.type === "file" && isShown(file.name)),
      );
    },
    ...live,
  });
}

interface ArchiveFieldProps {
  readonly query: UseQueryResult<readonly FileRecord[]>;
  /** The folder that was chosen; undefined for all. */
  readonly folder: string | undefined;
  readonly onFolder: (folder: string | undefined) => void;
  readonly excluded: ReadonlySet<string>;
  readonly onExclude: (excluded: ReadonlySet<string>) => void;
  readonly error: string | undefined;
}

/** Uploads archives, and selects those to import. */
export function ArchiveField({ query, folder, onFolder, excluded, onExclude, error }: ArchiveFieldProps) {
  const [isChoosing, setChoosing] = useState(false);
  const id = useId();
  const uploadFolder = folder ?? UPLOAD_FOLDER;
  return (
    <fieldset aria-describedby={`${id}-hint`} className="min-w-0">
      <legend className="mb-1 text-sm font-medium">{text.archives}</legend>
      <DropZone folder={uploadFolder} className="flex flex-col gap-3 rounded-xl border border-line p-3">
        <p id={`${id}-hint`} className="text-sm wrap-anywhere text-muted">
          {folder === undefined ? text.archivesHint : text.archivesIn({ folder })}
        </p>
        <LoadedList
          query={query}
          empty={
            <p className="text-sm wrap-anywhere">
              {folder === undefined ? text.noArchives : text.noArchivesIn({ folder })}
            </p>
          }
        >
          {(archives) => <ArchiveList archives={archives} excluded={excluded} onExclude={onExclude} />}
        </LoadedList>
        <div className="flex flex-wrap gap-2">
          <Button icon={Upload} onClick={() => void uploads.pickFiles(uploadFolder)}>
            {text.upload}
          </Button>
          <Button icon={FolderOpen} variant="quiet" onClick={() => setChoosing(true)}>
            {text.sourceFolder}
          </Button>
          {folder !== undefined && (
            <Button variant="quiet" onClick={() => onFolder(undefined)}>
              {text.allFolders}
            </Button>
          )}
        </div>
        <p className="text-sm wrap-anywhere text-muted">{text.uploadHint({ folder: uploadFolder })}</p>
      </DropZone>
      {error !== undefined && (
        <p role="alert" className="mt-1 text-sm text-danger">
          {error}
        </p>
      )}
      {isChoosing && (
        <FolderDialog
          title={text.chooseSource}
          folder={folder ?? "/"}
          onChosen={onFolder}
          onClose={() => setChoosing(false)}
        />
      )}
    </fieldset>
  );
}

function ArchiveList({
  archives,
  excluded,
  onExclude,
}: Pick<ArchiveFieldProps, "excluded" | "onExclude"> & { readonly archives: readonly FileRecord[] }) {
  const chosen = archives.filter(({ id }) => !excluded.has(id));
  const missing = missingParts(chosen.map(({ name }) => name));
  return (
    <>
      <ul className="flex max-h-64 flex-col gap-1 overflow-y-auto" aria-label={text.archives}>
        {archives.map(({ id, name, folder, size, createdAt }) => (
          <li key={id}>
            <Checkbox
              label={name}
              hint={`${formatBytes(size)} · ${formatDate(createdAt)} · ${folder}`}
              checked={!excluded.has(id)}
              onChange={(isChosen) => onExclude(withMember(excluded, id, !isChosen))}
              className="wrap-anywhere"
            />
          </li>
        ))}
      </ul>
      <p className="text-sm" aria-live="polite">
        {text.chosenOf({ n: chosen.length, size: chosen.reduce((sum, { size }) => sum + size, 0) })}
      </p>
      {missing.length > 0 && (
        <Notice>
          <span className="wrap-anywhere">{text.missingParts({ n: missing.length, names: formatList(missing) })}</span>{" "}
          {text.missingHint}
        </Notice>
      )}
    </>
  );
}
