import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { apiAddress } from "../../api/http.ts";
import type { Entry, FileRecord, FolderRecord } from "../../api/types.ts";
import { useSession } from "../../api/session.ts";
import { CopyField } from "../../ui/copy-field.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { Facts } from "../../ui/facts.tsx";
import { formatBytes, formatDateTime, formatDuration, formatNumber, formatRelative } from "../../base/format.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { folderParam } from "../folder-address.ts";
import { type FileInfo, fileInfoQuery, folderInfoQuery, type Media } from "./api.ts";
import { formatCaptured } from "./captured.ts";
import { DescriptionField } from "./description-field.tsx";
import { FieldList } from "./field-list.tsx";
import { TagList } from "./tag-list.tsx";
import { text } from "./text.ts";

type Fact = readonly [name: string, value: ReactNode];

/** The properties of an entry, and its editable details. */
export function InfoTab({ entry }: { readonly entry: Entry }) {
  return entry.type === "folder" ? <FolderFacts folder={entry} /> : <FileFacts file={entry} />;
}

function FolderFacts({ folder }: { readonly folder: FolderRecord }) {
  const info = useQuery(folderInfoQuery(folder.id));
  const isReader = useSession().user.role === "viewer";
  if (info.isError) return <ErrorState error={info.error} onRetry={() => void info.refetch()} />;
  if (info.data === undefined) return <Skeleton className="h-48" />;
  const { itemCount, createdAt, modifiedAt, description } = info.data;
  return (
    <div className="flex flex-col gap-5">
      <Facts
        facts={[
          [text.kind, text.folder],
          [text.itemCount, text.itemCountValue(itemCount)],
          [text.folderPath, <FolderLink key="in" folder={info.data.folder} />],
          [text.created, formatDateTime(createdAt)],
          [text.modified, formatDateTime(modifiedAt)],
        ]}
      />
      <DescriptionField entry={folder} description={description} isReadOnly={isReader} />
    </div>
  );
}

function FileFacts({ file }: { readonly file: FileRecord }) {
  const info = useQuery(fileInfoQuery(file.id));
  const isReader = useSession().user.role === "viewer";
  if (info.isError) return <ErrorState error={info.error} onRetry={() => void info.refetch()} />;
  if (info.data === undefined) return <Skeleton className="h-72" />;
  const { description = "", ...fields } = info.data.metadata;
  return (
    <div className="flex flex-col gap-5">
      {info.data.hasThumbnail && (
        <img
          src={apiAddress(`/api/files/${file.id}/download`, { thumbnail: "medium", version: info.data.version })}
          alt=""
          className="max-h-52 w-full rounded-lg bg-sunken object-contain"
        />
      )}
      <Facts facts={factsOf(info.data)} />
      <TagList id={file.id} tags={info.data.tags} isReadOnly={isReader} />
      <DescriptionField entry={file} description={description} isReadOnly={isReader} />
      <FieldList id={file.id} fields={fields} isReadOnly={isReader} />
      <CopyField label={text.checksum} value={info.data.checksum} hint={text.checksumHint} />
    </div>
  );
}

function factsOf(info: FileInfo): Fact[] {
  const captured = info.capturedAt ?? info.media?.takenAt ?? null;
  return [
    [text.kind, info.mimeType],
    [text.size, formatBytes(info.size)],
    ...fact(text.captured, captured, formatCaptured),
    ...(info.media === null ? [] : mediaFacts(info.media)),
    [text.folderPath, <FolderLink key="in" folder={info.folder} />],
    [text.uploaded, formatDateTime(info.uploadedAt)],
    [text.created, formatDateTime(info.createdAt)],
    [text.modified, formatDateTime(info.modifiedAt)],
    ...fact(text.fileModified, info.fileModifiedAt, formatDateTime),
    [text.version, formatNumber(info.version)],
    [text.owner, info.owner.name || info.owner.email],
    ...(info.isPublic ? [[text.visibility, text.isPublic] as const] : []),
    [text.downloads, formatNumber(info.downloadCount)],
    [text.lastOpened, formatRelative(info.lastAccessedAt)],
  ];
}

function mediaFacts(media: Media): Fact[] {
  const { width, height, location } = media;
  return [
    ...(width === null || height === null ? [] : [[text.dimensions, `${width} × ${height}`] as const]),
    ...fact(text.camera, media.camera),
    ...fact(text.coordinates, location, ({ latitude, longitude }) => `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`),
    ...fact(text.duration, media.durationSeconds, formatDuration),
    ...fact(text.title, media.title),
    ...fact(text.artist, media.artist),
    ...fact(text.album, media.album),
    ...fact(text.codec, media.codec),
    ...fact(text.bitrate, media.bitrate, (bits) => text.kilobits(formatNumber(Math.round(bits / 1000)))),
  ];
}

/** Nothing if the value is unknown. */
function fact<T>(name: string, value: T | null, format: (value: T) => string = String): Fact[] {
  return value === null ? [] : [[name, format(value)]];
}

function FolderLink({ folder }: { readonly folder: string }) {
  return (
    <Link
      to={folder === "/" ? "/files" : "/files/$"}
      params={{ _splat: folderParam(folder) }}
      className="inline-flex min-h-6 items-center text-accent hover:underline"
    >
      {folder}
    </Link>
  );
}
