import { Download } from "../../ui/icons.ts";
import type { FileRecord } from "../../api/types.ts";
import { FileIcon } from "../../ui/file-icon.tsx";
import { describeMediaType } from "../../base/media-types.ts";
import { formatBytes } from "../../base/format.ts";
import { LinkButton } from "../../ui/link-button.tsx";
import { usePicture } from "../../ui/use-picture.ts";
import { downloadAddress, largeAddress } from "./addresses.ts";
import { text } from "./text.ts";

/** Shown in place of a preview, with a download button. `hasPicture`: shows the thumbnail, for example of a document. */
export function NoPreview({
  file,
  message,
  hasPicture = false,
}: {
  readonly file: FileRecord;
  readonly message: string;
  readonly hasPicture?: boolean;
}) {
  return (
    <div className="flex size-full flex-col items-center justify-center gap-4 overflow-y-auto px-16 py-6 text-center">
      {hasPicture ? <FirstPage file={file} /> : <FileIcon mimeType={file.mimeType} size={64} />}
      <p className="max-w-full text-lg font-medium break-words">{file.name}</p>
      <p className="text-sm text-muted">{`${describeMediaType(file.mimeType, file.name)} · ${formatBytes(file.size)}`}</p>
      <p className="max-w-md text-sm text-muted">{message}</p>
      <LinkButton variant="primary" icon={Download} href={downloadAddress(file)} download={file.name}>
        {text.download}
      </LinkButton>
    </div>
  );
}

function FirstPage({ file }: { readonly file: FileRecord }) {
  const { src, hasFailed, onError } = usePicture(`${largeAddress(file)}&fallback=none`);
  if (hasFailed) return <FileIcon mimeType={file.mimeType} size={64} />;
  return (
    <img
      key={src}
      src={src}
      alt={text.firstPage}
      onError={onError}
      className="max-h-[65%] min-h-0 max-w-full rounded-md object-contain shadow-lg"
    />
  );
}
