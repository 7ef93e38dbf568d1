import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { apiAddress } from "../../api/http.ts";
import type { Entry, FileRecord, FolderRecord } from "../../api/types.ts";
import { CopyField } from "../../ui/copy-field.tsx";
import { DescriptionList } from "../../ui/description-list.tsx";
import { formatBytes, formatDateTime, formatDuration, formatNumber, formatRelative } from "../../base/format.ts";
import { describeMediaType } from "../../base/media-types.ts";
import { TextPicture, useFirstLines } from "../collection/text-picture.tsx";
import { locationOf } from "../entry-columns.tsx";
import { folderParam } from "../folder-address.ts";
import { AlbumLinks } from "./album-links.tsx";
import { useRightsOf } from "../rights.ts";
import { type FileInfo, fileInfoQuery, folderInfoQuery, type Media } from "./api.ts";
import { formatCaptured } from "./captured.ts";
import { DescriptionField } from "./description-field.tsx";
import { FieldList } from "./field-list.tsx";
import { TagList } from "./tag-list.tsx";
import { text } from "./text.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { useCanWrite } from "../../api/session.ts";

type Detail = readonly [name: string, value: ReactNode];

/** The properties of an entry, and its editable details. */
export function InfoTab({ entry }: { readonly entry: Entry }) {
  return entry.type === "folder" ? <FolderInfo folder={entry} /> : <FileInfoPart file={entry} />;
}

function FolderInfo({ folder }: { readonly folder: FolderRecord }) {
  const { isOwn, isReadOnly } = useAccess(folder);
  return (
    <Loaded query={useQuery(folderInfoQuery(folder.id))}>
      {(info) => (
        <div className="flex flex-col gap-5">
          <DescriptionList
            items={[
              [text.kind, text.folder],
              [text.itemCount, text.itemCountValue({ n: info.itemCount })],
              ...(typeof info.size === "number" ? [[text.size, formatBytes(info.size)] as const] : []),
              ...locationDetail(info.folder, isOwn),
              [text.created, formatDateTime(info.createdAt)],
              [text.modified, formatDateTime(info.modifiedAt)],
            ]}
          />
          <DescriptionField entry={folder} description={info.description} isReadOnly={isReadOnly} />
        </div>
      )}
    </Loaded>
  );
}

function FileInfoPart({ file }: { readonly file: FileRecord }) {
  const { isOwn, isReadOnly } = useAccess(file);
  return (
    <Loaded query={useQuery(fileInfoQuery(file.id))}>
      {(info) => {
        const { description = "", ...fields } = info.metadata;
        return (
          <div className="flex flex-col gap-5">
            {info.hasThumbnail ? (
              <img
                src={apiAddress(`/api/files/${file.id}/download`, { thumbnail: "medium", version: info.version })}
                alt=""
                className="max-h-52 w-full rounded-lg bg-sunken object-contain"
              />
            ) : (
              <FirstLines file={info} />
            )}
            <DescriptionList items={listDetails(info, isOwn)} />
            {isOwn && <AlbumLinks id={file.id} />}
            <TagList id={file.id} tags={info.tags} isReadOnly={isReadOnly} />
            <DescriptionField entry={file} description={description} isReadOnly={isReadOnly} />
            <FieldList id={file.id} fields={fields} isReadOnly={isReadOnly} />
            <CopyField label={text.checksum} value={info.checksum} hint={text.checksumHint} />
          </div>
        );
      }}
    </Loaded>
  );
}

function FirstLines({ file }: { readonly file: FileInfo }) {
  const lines = useFirstLines(file);
  if (lines === "") return null;
  return (
    <div className="relative h-44 overflow-hidden rounded-lg border border-line">
      <TextPicture file={file} lines={lines} />
    </div>
  );
}

function listDetails(info: FileInfo, isOwn: boolean): Detail[] {
  const captured = info.capturedAt ?? info.media?.takenAt ?? null;
  const created = formatDateTime(info.createdAt);
  const uploaded = formatDateTime(info.uploadedAt);
  return [
    [
      text.kind,
      <span key="kind" title={info.mimeType}>
        {describeMediaType(info.mimeType, info.name)}
      </span>,
    ],
    [text.size, formatBytes(info.size)],
    ...detailIfKnown(text.captured, captured, formatCaptured),
    ...detailIfKnown(text.place, info.place, (place) => <PlaceLink key="place" place={place} />),
    ...(info.media === null ? [] : listMediaDetails(info.media)),
    ...locationDetail(info.folder, isOwn),
    [text.uploaded, uploaded],
    ...(created === uploaded ? [] : [[text.created, created] as const]),
    [text.modified, formatDateTime(info.fileModifiedAt ?? info.modifiedAt)],
    ...(info.fileModifiedAt === null ? [] : [[text.lastChange, formatDateTime(info.modifiedAt)] as const]),
    [text.version, formatNumber(info.version)],
    [text.owner, info.owner.name || info.owner.email],
    ...(info.isPublic ? [[text.visibility, text.isPublic] as const] : []),
    [text.downloads, formatNumber(info.downloadCount)],
    // Until a file was downloaded, this is when it was created.
    ...(info.downloadCount > 0 ? [[text.lastDownloaded, formatRelative(info.lastAccessedAt)] as const] : []),
  ];
}

function listMediaDetails(media: Media): Detail[] {
  const { width, height, location } = media;
  return [
    ...(width === null || height === null ? [] : [[text.dimensions, `${width} × ${height}`] as const]),
    ...detailIfKnown(text.camera, media.camera),
    ...detailIfKnown(
      text.coordinates,
      location,
      ({ latitude, longitude }) => `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`,
    ),
    ...detailIfKnown(text.duration, media.durationSeconds, formatDuration),
    ...detailIfKnown(text.title, media.title),
    ...detailIfKnown(text.artist, media.artist),
    ...detailIfKnown(text.album, media.album),
    ...detailIfKnown(text.codec, media.codec),
    ...detailIfKnown(text.bitrate, media.bitrate, (bits) =>
      text.kilobits({ n: formatNumber(Math.round(bits / 1000)) }),
    ),
  ];
}

/** Nothing if the value is unknown. */
function detailIfKnown<T>(name: string, value: T | null, format: (value: T) => ReactNode = String): Detail[] {
  return value === null ? [] : [[name, format(value)]];
}

function PlaceLink({ place }: { readonly place: NonNullable<FileInfo["place"]> }) {
  return (
    <Link
      to="/photos"
      search={{ place: place.id }}
      className="reach inline-flex min-h-6 items-center text-accent hover:underline"
    >
      {place.name}
    </Link>
  );
}

/** Whose the entry is, and whether its details can be edited. */
function useAccess(entry: Entry) {
  const canWrite = useCanWrite();
  const { isOwn, canChange } = useRightsOf()(entry);
  return { isOwn, isReadOnly: !canWrite || !canChange };
}

/** Only for own entries: the location of others is where their owner has them. */
function locationDetail(folder: string, isOwn: boolean): Detail[] {
  return isOwn ? [[text.folderPath, <FolderLink key="in" folder={folder} />]] : [];
}

function FolderLink({ folder }: { readonly folder: string }) {
  return (
    <Link
      to={folder === "/" ? "/files" : "/files/$"}
      params={{ _splat: folderParam(folder) }}
      className="reach inline-flex min-h-6 items-center text-accent hover:underline"
    >
      {locationOf(folder)}
    </Link>
  );
}
