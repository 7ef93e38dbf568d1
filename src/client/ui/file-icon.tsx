import {
  File,
  FileArchive,
  FileCode,
  FileMusic,
  FileSpreadsheet,
  FileText,
  FileVideoCamera,
  type LucideIcon,
} from "lucide-react";
import { Folder, Image } from "./icons.ts";
import { cx } from "./cx.ts";

const BY_TYPE: readonly (readonly [RegExp, LucideIcon])[] = [
  [/^image\//, Image],
  [/^video\//, FileVideoCamera],
  [/^audio\//, FileMusic],
  [/zip|tar|compressed|7z|rar|gzip/, FileArchive],
  [/spreadsheet|excel|csv/, FileSpreadsheet],
  [/json|javascript|typescript|xml|html|css|x-sh|x-python|x-c/, FileCode],
  [/^text\/|pdf|word|document|rtf|epub/, FileText],
];

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
  const Icon = isFolder ? Folder : (BY_TYPE.find(([pattern]) => pattern.test(mimeType))?.[1] ?? File);
  return (
    <Icon
      aria-hidden
      size={size}
      strokeWidth={1.75}
      className={cx("shrink-0", isFolder ? "fill-accent-soft text-accent" : "text-muted", className)}
    />
  );
}
