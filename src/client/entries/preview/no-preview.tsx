import { Download } from "../../ui/icons.ts";
import type { FileRecord } from "../../api/types.ts";
import { FileIcon } from "../../ui/file-icon.tsx";
import { describeMediaType } from "../../base/media-types.ts";
import { formatBytes } from "../../base/format.ts";
import { LinkButton } from "../../ui/link-button.tsx";
import { downloadAddress } from "./addresses.ts";
import { text } from "./text.ts";

/** Shown in place of a preview, with a download button. */
export function NoPreview({ file, message }: { readonly file: FileRecord; readonly message: string }) {
  return (
    <div className="flex size-full flex-col items-center justify-center gap-4 overflow-y-auto px-16 py-6 text-center">
      <FileIcon mimeType={file.mimeType} size={64} />
      <p className="max-w-full text-lg font-medium break-words">{file.name}</p>
      <p className="text-sm text-muted">{`${describeMediaType(file.mimeType, file.name)} · ${formatBytes(file.size)}`}</p>
      <p className="max-w-md text-sm text-muted">{message}</p>
      <LinkButton variant="primary" icon={Download} href={downloadAddress(file)} download={file.name}>
        {text.download}
      </LinkButton>
    </div>
  );
}
