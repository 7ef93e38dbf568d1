import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ExternalLink, RotateCcw } from "lucide-react";
import { Download, Trash2 } from "../../ui/icons.ts";
import type { ResponseData } from "../../api/generated.ts";
import { apiAddress, request } from "../../api/http.ts";
import { invalidateTree, keys, listQuery } from "../../api/queries.ts";
import type { FileRecord } from "../../api/types.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { formatBytes, formatDateTime } from "../../base/format.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { IconLink } from "../../ui/icon-link.tsx";
import { toast, showError } from "../../ui/toast.tsx";
import { text } from "./text.ts";
import { confirmThen } from "../../ui/confirm.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { useCanWrite } from "../../api/session.ts";
import { useRightsOf } from "../rights.ts";

type Version = ResponseData["GET /api/files/{id}/versions"]["versions"][number];

/** Types that the server shows inline instead of sending them as a download. */
const SHOWABLE = /^(image\/(?!.*\+xml)|audio\/|video\/|text\/plain$|application\/pdf$)/;

/** The version history of a file: open, download, restore or delete a version. */
export function Versions({ file }: { readonly file: FileRecord }) {
  const canWrite = useCanWrite();
  const isReader = !useRightsOf()(file).canChange || !canWrite;
  const path: `/api/${string}` = `/api/files/${file.id}/versions`;
  const versions = useQuery(listQuery<Version>(keys.versions(file.id), path, "versions"));
  return (
    <Loaded query={versions}>
      {(items) => (
        <>
          <ol aria-label={text.versionsOf({ name: file.name })} className="divide-y divide-line">
            {items.map((version, index) => (
              <li key={version.version} className="py-3 first:pt-0">
                <VersionItem file={file} version={version} before={items[index + 1]} isReader={isReader} />
              </li>
            ))}
          </ol>
          <p className="mt-3 text-sm text-muted">{text.retention}</p>
        </>
      )}
    </Loaded>
  );
}

function VersionItem({
  file,
  version,
  before,
  isReader,
}: {
  readonly file: FileRecord;
  readonly version: Version;
  /** The previous version, if it is still stored. */
  readonly before: Version | undefined;
  readonly isReader: boolean;
}) {
  const queryClient = useQueryClient();
  const number = version.version;
  const path: `/api/${string}` = `/api/files/${file.id}/versions/${number}`;
  const change = useMutation({
    mutationFn: (action: "restore" | "delete") =>
      action === "restore" ? request("POST", `${path}/restore`) : request("DELETE", path),
    onSuccess: async (_, action) => {
      toast({ text: action === "restore" ? text.restored({ n: number }) : text.deleted });
      await invalidateTree(queryClient);
    },
    onError: showError,
  });
  const remove = () =>
    confirmThen(
      { title: text.deleteTitle({ n: number }), body: text.deleteBody, action: text.deleteVersion, danger: true },
      () => change.mutate("delete"),
    );
  const label = (verb: string) => `${verb}: ${text.version({ n: number })}`;
  const who = version.createdBy === null ? "" : text.by({ name: version.createdBy.name });
  return (
    <>
      <p className="flex flex-wrap items-center gap-2 text-sm font-medium">
        <span>{text.version({ n: number })}</span>
        {version.isCurrent && <Badge tone="success">{text.current}</Badge>}
      </p>
      <p className="text-sm text-muted">
        {formatDateTime(version.createdAt)} {who}
      </p>
      <p className="text-sm text-muted">
        {[formatBytes(version.size), ...(before === undefined ? [] : [compared(version.size, before.size)])].join(", ")}
      </p>
      <div className="mt-1 -ms-2 flex items-center gap-1">
        <VersionLinks path={path} isShowable={SHOWABLE.test(version.mimeType)} label={label} />
        {!version.isCurrent && !isReader && (
          <>
            <IconButton label={label(text.deleteVersion)} icon={Trash2} onClick={remove} />
            <Button
              size="small"
              className="ms-auto"
              icon={RotateCcw}
              busy={change.isPending}
              aria-label={label(text.restore)}
              onClick={() => change.mutate("restore")}
            >
              {text.restore}
            </Button>
          </>
        )}
      </div>
    </>
  );
}

function VersionLinks({
  path,
  isShowable,
  label,
}: {
  readonly path: `/api/${string}`;
  readonly isShowable: boolean;
  readonly label: (verb: string) => string;
}) {
  return (
    <>
      {isShowable && (
        <IconLink
          label={text.open}
          name={label(text.open)}
          icon={ExternalLink}
          href={apiAddress(`${path}/download`, { inline: true })}
          target="_blank"
          rel="noreferrer"
        />
      )}
      <IconLink
        label={text.download}
        name={label(text.download)}
        icon={Download}
        href={apiAddress(`${path}/download`)}
        download
      />
    </>
  );
}

function compared(size: number, before: number): string {
  if (size === before) return text.sameSize;
  const difference = formatBytes(Math.abs(size - before));
  return size > before ? text.larger({ size: difference }) : text.smaller({ size: difference });
}
