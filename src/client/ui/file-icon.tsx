import {
  Box,
  CalendarDays,
  Contact,
  Disc,
  File,
  FileArchive,
  FileBraces,
  FileCode,
  FileKey,
  FileMusic,
  FileSpreadsheet,
  FileTerminal,
  FileText,
  FileType,
  FileVideoCamera,
  type LucideIcon,
  Mail,
  NotebookText,
  Presentation,
} from "lucide-react";
import { type MediaFamily, mediaFamily } from "../base/media-types.ts";
import { Folder, Image } from "./icons.ts";
import { cx } from "./cx.ts";

const ICONS: Readonly<Record<MediaFamily, LucideIcon>> = {
  image: Image,
  video: FileVideoCamera,
  audio: FileMusic,
  document: FileText,
  spreadsheet: FileSpreadsheet,
  presentation: Presentation,
  book: NotebookText,
  archive: FileArchive,
  disk: Disc,
  code: FileCode,
  data: FileBraces,
  text: FileText,
  font: FileType,
  model: Box,
  mail: Mail,
  calendar: CalendarDays,
  contact: Contact,
  key: FileKey,
  program: FileTerminal,
  unknown: File,
};

/** The icon of a file type, or of a folder if `mimeType` is `folder`. */
export function FileIcon({
  mimeType,
  size = 22,
  className,
}: {
  readonly mimeType: string;
  readonly size?: number;
  readonly className?: string;
}) {
  const isFolder = mimeType === "folder";
  const Icon = isFolder ? Folder : ICONS[mediaFamily(mimeType)];
  return (
    <Icon
      aria-hidden
      size={size}
      strokeWidth={1.75}
      data-icon={isFolder ? "folder" : mediaFamily(mimeType)}
      className={cx("shrink-0", isFolder ? "fill-accent-soft text-accent" : "text-muted", className)}
    />
  );
}
