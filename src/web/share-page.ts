import { type Html, html } from "./html.ts";
import { renderPage } from "./page.ts";

/** What the page of a public link shows. All addresses are ours, as they stand in the page. */
export interface SharePageModel {
  readonly fileName: string;
  readonly sizeBytes: number;
  /** Lower-case, without parameters. */
  readonly mediaType: string;
  /** Sends the file as an attachment. */
  readonly downloadUrl: string;
  /** Sends it to be shown in place; undefined where its type may not be. */
  readonly inlineUrl: string | undefined;
  /** A picture of it, up to 1,600 pixels; undefined where there is none. */
  readonly previewUrl: string | undefined;
}

/**
 * The page that `/s/{token}` shows in a browser: what the file is, a look at it, a download button.
 * Answer it with `Cache-Control: private, no-cache`, `Referrer-Policy: no-referrer`, `X-Robots-Tag: noindex` (contract §5).
 */
export function renderSharePage(basePath: string, model: SharePageModel): string {
  const kind = describeKind(model.mediaType, model.fileName);
  return renderPage(
    basePath,
    model.fileName,
    html`<article class="card">
${renderPreview(model, kind)}
<h1 dir="auto">${model.fileName}</h1>
<ul class="facts"><li>${kind}</li><li>${formatSize(model.sizeBytes)}</li></ul>
<p class="actions"><a class="button" href="${model.downloadUrl}" download>Download</a>${renderOpen(model)}</p>
</article>`,
  );
}

/** The page for links that don't exist, no longer exist, or never did: the same for all of them (404). */
export function renderShareNotFoundPage(basePath: string): string {
  return renderPage(
    basePath,
    "Nothing here",
    html`<div class="card">
<h1>There is nothing at this link</h1>
<p>It may have been mistyped or cut short, or its owner no longer shares the file.</p>
<p class="quiet">Check that you have the whole link, or ask whoever sent it for a new one.</p>
</div>`,
  );
}

function renderPreview(model: SharePageModel, kind: string): Html {
  const { mediaType, inlineUrl, previewUrl, fileName } = model;
  if (inlineUrl !== undefined && mediaType.startsWith("video/")) {
    const poster = previewUrl === undefined ? html`` : html` poster="${previewUrl}"`;
    return html`<div class="preview"><video controls preload="metadata" src="${inlineUrl}"${poster} aria-label="${fileName}"></video></div>`;
  }
  if (inlineUrl !== undefined && mediaType.startsWith("audio/")) {
    return html`<div class="preview"><audio controls preload="metadata" src="${inlineUrl}" aria-label="${fileName}"></audio></div>`;
  }
  if (previewUrl !== undefined) {
    return html`<div class="preview"><img src="${previewUrl}" alt="Preview of ${fileName}"></div>`;
  }
  return html`<div class="preview"><span class="kind" aria-hidden="true">${extensionOf(fileName) ?? kind.split(" ")[0]}</span></div>`;
}

function renderOpen(model: SharePageModel): Html {
  const { inlineUrl, mediaType } = model;
  if (inlineUrl === undefined || mediaType.startsWith("audio/") || mediaType.startsWith("video/")) return html``;
  return html`<a class="button second" href="${inlineUrl}">Open in the browser</a>`;
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^image\//, "Picture"],
  [/^audio\//, "Sound"],
  [/^video\//, "Film"],
  [/^application\/pdf$/, "PDF document"],
  [/^(application\/(zip|gzip|x-7z-compressed|x-tar|vnd\.rar|x-bzip2|x-xz|zstd)$)/, "Archive"],
  [/(wordprocessingml|msword|opendocument\.text|rtf)/, "Text document"],
  [/(spreadsheet|ms-excel)/, "Spreadsheet"],
  [/(presentation|powerpoint)/, "Presentation"],
  [/^text\//, "Text"],
];

function describeKind(mediaType: string, fileName: string): string {
  const extension = extensionOf(fileName);
  const word = KINDS.find(([pattern]) => pattern.test(mediaType))?.[1] ?? "File";
  return extension === undefined || word.startsWith(extension) ? word : `${word} (${extension})`;
}

/** The extension in capitals, where it is a short word. */
function extensionOf(fileName: string): string | undefined {
  return /[^.]\.([a-z0-9]{1,5})$/i.exec(fileName)?.[1]?.toUpperCase();
}

const UNITS = ["bytes", "KB", "MB", "GB", "TB", "PB"] as const;

/** A size for people, counted in 1,024s as the limits are: `3.4 MB`. */
export function formatSize(sizeBytes: number): string {
  if (sizeBytes === 1) return "1 byte";
  let value = sizeBytes;
  let unit = 0;
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
  return `${digits} ${UNITS[unit] ?? ""}`;
}
