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
  /** Sends it to be shown in place; undefined where that may not be. */
  readonly inlineUrl: string | undefined;
  /** A picture of it, up to 1,600 pixels; undefined where there is none. */
  readonly previewUrl: string | undefined;
  /** The shared folder that it is one of, and the page of that. */
  readonly folder?: PageLink | undefined;
  /** Until when, where the link ends. */
  readonly expiresAtMs?: number | null;
}

/** A name that leads somewhere. */
export interface PageLink {
  readonly name: string;
  readonly url: string;
}

/** An entry of a shared folder. */
export interface SharedEntry {
  readonly name: string;
  /** Its page. */
  readonly url: string;
  readonly modifiedAtMs: number;
  /** Undefined for a folder. */
  readonly file:
    | {
        /** Null where it isn't known. */
        readonly sizeBytes: number | null;
        readonly mediaType: string;
        readonly downloadUrl: string;
        /** A small picture of it. */
        readonly thumbnailUrl: string | undefined;
      }
    | undefined;
  /** Of a folder: how many there are directly in it. */
  readonly itemCount: number;
}

/** What the page of a shared folder shows. */
export interface SharedFolderModel {
  readonly name: string;
  /** The folders above it, from the shared one on; none for the shared one itself. */
  readonly above: readonly PageLink[];
  readonly entries: readonly SharedEntry[];
  readonly total: number;
  /** Sorted otherwise; `isChosen` for the present order. */
  readonly sorts: readonly (PageLink & { readonly isChosen: boolean })[];
  readonly page: number;
  readonly pages: number;
  readonly previousUrl: string | undefined;
  readonly nextUrl: string | undefined;
  /** All of it as a ZIP; undefined where that can't be had. */
  readonly archiveUrl: string | undefined;
  readonly expiresAtMs: number | null;
}

/** What the form of a drop box shows. */
export interface DropBoxModel {
  readonly title: string;
  readonly uploadUrl: string;
  readonly maxFileSizeBytes: number | null;
  readonly expiresAtMs: number | null;
  /** What came of the last file. */
  readonly received?: { readonly name: string; readonly sizeBytes: number; readonly checksum: string } | undefined;
  readonly problem?: string | undefined;
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
${model.folder !== undefined && html`<nav class="crumbs" aria-label="Folder"><a href="${model.folder.url}">${model.folder.name}</a></nav>`}
${renderPreview(model, kind)}
<h1 dir="auto">${model.fileName}</h1>
<ul class="facts"><li>${kind}</li><li>${formatSize(model.sizeBytes)}</li>${renderExpiry(model.expiresAtMs ?? null)}</ul>
<p class="actions"><a class="button" href="${model.downloadUrl}" download>Download</a>${renderOpen(model)}</p>
</article>`,
  );
}

/** The page of a shared folder, or of one below it. */
export function renderSharedFolderPage(basePath: string, model: SharedFolderModel): string {
  const count = model.total === 1 ? "1 entry" : `${model.total} entries`;
  return renderPage(
    basePath,
    model.name,
    html`<article class="card wide">
${model.above.length > 0 && html`<nav class="crumbs" aria-label="Folders above">${model.above.map(({ name, url }) => html`<a href="${url}" dir="auto">${name}</a><span aria-hidden="true">/</span>`)}</nav>`}
<h1 dir="auto">${model.name}</h1>
<ul class="facts"><li>Folder</li><li>${count}</li>${renderExpiry(model.expiresAtMs)}</ul>
${model.archiveUrl !== undefined && model.total > 0 && html`<p class="actions"><a class="button" href="${model.archiveUrl}" download>Download all as ZIP</a></p>`}
${model.total > 1 && html`<p class="sorts">Sort by ${model.sorts.map(({ name, url, isChosen }) => html`<a href="${url}"${isChosen && html` aria-current="true"`}>${name}</a> `)}</p>`}
${model.entries.length === 0 ? html`<p class="quiet">There is nothing in this folder.</p>` : html`<ul class="entries">${model.entries.map(renderEntry)}</ul>`}
${model.pages > 1 && html`<nav class="pages" aria-label="Pages">${model.previousUrl !== undefined && html`<a class="button second" rel="prev" href="${model.previousUrl}">Previous</a>`}<span>Page ${model.page} of ${model.pages}</span>${model.nextUrl !== undefined && html`<a class="button second" rel="next" href="${model.nextUrl}">Next</a>`}</nav>`}
</article>`,
  );
}

/** The form that asks for a share's password; nothing tells what is behind it. It is sent by POST as the field `password`. */
export function renderUnlockPage(basePath: string, unlockUrl: string, problem?: string): string {
  return renderPage(
    basePath,
    problem === undefined ? "This link is locked" : "Please try again: This link is locked",
    html`<div class="card">
<h1>This link is locked</h1>
<p>Whoever sent it to you has also chosen a password for it.</p>
<form method="post" action="${unlockUrl}">
<div class="field">
<label for="password">Password</label>
<input type="password" id="password" name="password" autocomplete="off" required maxlength="256" autofocus${problem !== undefined && html` aria-invalid="true" aria-describedby="password-wrong"`}>
${problem !== undefined && html`<p class="wrong" id="password-wrong" role="alert">${problem}</p>`}
</div>
<button class="button" type="submit">Open</button>
</form>
</div>`,
  );
}

/** The form of a drop box: one file at a time, sent by POST as multipart/form-data. */
export function renderDropBoxPage(basePath: string, model: DropBoxModel): string {
  const { received, problem, maxFileSizeBytes } = model;
  return renderPage(
    basePath,
    model.title,
    html`<div class="card">
<h1 dir="auto">${model.title}</h1>
<p>Files that you send here go to whoever gave you this link. Nobody else sees them, and you can't see what others sent.</p>
${received !== undefined && html`<div class="received" role="status"><p><strong dir="auto">${received.name}</strong> has arrived whole: ${formatSize(received.sizeBytes)}.</p><p class="quiet"><code>${received.checksum}</code></p></div>`}
${problem !== undefined && html`<p class="notice" role="alert">${problem}</p>`}
<form method="post" action="${model.uploadUrl}" enctype="multipart/form-data">
<div class="field">
<label for="sender">Your name</label>
<input type="text" id="sender" name="sender" maxlength="100" autocomplete="name" aria-describedby="sender-hint">
<p class="hint" id="sender-hint">Kept with the file. You may leave it empty.</p>
</div>
<div class="field">
<label for="file">${received === undefined ? "File" : "Another file"}</label>
<input type="file" id="file" name="file" required aria-describedby="file-hint">
<p class="hint" id="file-hint">One at a time${maxFileSizeBytes !== null && html`, up to ${formatSize(maxFileSizeBytes)}`}. Keep this page open until it says that the file has arrived.</p>
</div>
<button class="button" type="submit">Send</button>
</form>
${model.expiresAtMs !== null && html`<ul class="facts below">${renderExpiry(model.expiresAtMs)}</ul>`}
</div>`,
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

/** The page for whatever else keeps somebody out: its time is over, all downloads are taken, too many tries. */
export function renderShareRefusedPage(basePath: string, title: string, message: string): string {
  return renderPage(
    basePath,
    title,
    html`<div class="card">
<h1>${title}</h1>
<p>${message}</p>
</div>`,
  );
}

/** The page of a share between accounts, for its recipient: where to find what was shared. */
export function renderReceivedSharePage(
  basePath: string,
  model: { readonly name: string; readonly ownerName: string; readonly canWrite: boolean },
): string {
  return renderPage(
    basePath,
    model.name,
    html`<div class="card">
<h1 dir="auto">${model.name}</h1>
<p><strong dir="auto">${model.ownerName}</strong> shares this with your account. You may ${model.canWrite ? "look at it and change it" : "look at it"}.</p>
<p>You find it among the files shared with you, in the app and at <code>GET /api/shares/received</code>.</p>
</div>`,
  );
}

function renderEntry(entry: SharedEntry): Html {
  const { name, url, file } = entry;
  const day = new Date(entry.modifiedAtMs).toISOString().slice(0, 10);
  if (file === undefined) {
    const count = entry.itemCount === 1 ? "1 entry" : `${entry.itemCount} entries`;
    return html`<li><a class="name" href="${url}"><span class="thumb folder" aria-hidden="true"></span><span dir="auto">${name}/</span></a><span class="fact">${count}</span><span class="fact"><time datetime="${day}">${day}</time></span><span class="get"></span></li>`;
  }
  const kind = extensionOf(name) ?? describeKind(file.mediaType, name).split(" ")[0];
  const picture =
    file.thumbnailUrl === undefined
      ? html`<span class="thumb" aria-hidden="true">${kind}</span>`
      : html`<img class="thumb" src="${file.thumbnailUrl}" alt="" width="48" height="48" loading="lazy" decoding="async">`;
  return html`<li><a class="name" href="${url}">${picture}<span dir="auto">${name}</span></a><span class="fact">${file.sizeBytes === null ? "–" : formatSize(file.sizeBytes)}</span><span class="fact"><time datetime="${day}">${day}</time></span><a class="get" href="${file.downloadUrl}" download aria-label="Download ${name}">Download</a></li>`;
}

function renderExpiry(expiresAtMs: number | null): Html {
  if (expiresAtMs === null) return html``;
  const instant = new Date(expiresAtMs).toISOString();
  return html`<li>Open until <time datetime="${instant}">${instant.slice(0, 16).replace("T", " ")} UTC</time></li>`;
}

/** Sound and film are fetched when they are played, not before: that is a download, which the owner is told of. */
function renderPreview(model: SharePageModel, kind: string): Html {
  const { mediaType, inlineUrl, previewUrl, fileName } = model;
  if (inlineUrl !== undefined && mediaType.startsWith("video/")) {
    const poster = previewUrl === undefined ? html`` : html` poster="${previewUrl}"`;
    return html`<div class="preview"><video controls preload="none" src="${inlineUrl}"${poster} aria-label="${fileName}"></video></div>`;
  }
  if (inlineUrl !== undefined && mediaType.startsWith("audio/")) {
    return html`<div class="preview"><audio controls preload="none" src="${inlineUrl}" aria-label="${fileName}"></audio></div>`;
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
