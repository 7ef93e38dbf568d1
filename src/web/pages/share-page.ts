/** The pages that a public link shows in a browser. They work without script; `src/client/public/` enhances them. */
import { type Html, html } from "./html.ts";
import { type LinkPreview, renderLinkPreview } from "./link-preview.ts";
import { PAGE_POLICY, renderPage } from "./page.ts";

/** {@link PAGE_POLICY} plus our own scripts and requests to this server. */
export const SHARE_PAGE_POLICY = `${PAGE_POLICY}; script-src 'self'; connect-src 'self'`;

/** Where the page of a link is served, and the scripts that it loads. */
export interface SharePageFrame {
  /** `""`, or a path such as `/files`. */
  readonly basePath: string;
  /** Script URLs below the base path: the module, then its imports. Empty for a page without script. */
  readonly scripts: readonly string[];
}

/** Data for the page of a public link. All URLs lead to this server. */
interface SharePageModel {
  readonly fileName: string;
  readonly sizeBytes: number;
  /** Lower-case, without parameters. */
  readonly mediaType: string;
  /** Sends the file as an attachment. */
  readonly downloadUrl: string;
  /** Sends the file for display in the browser; undefined if that is not allowed. */
  readonly inlineUrl: string | undefined;
  /** A preview image of up to 1,600 pixels; undefined if there is none. */
  readonly previewUrl: string | undefined;
  /** Whether a script may fetch it to show it as plain text. */
  readonly isReadable?: boolean;
  /** The shared folder that contains the file, and the page of that folder. */
  readonly folder?: PageLink | undefined;
  /** When the link expires; null if never. */
  readonly expiresAtMs?: number | null;
  /** The person who shares it; undefined if they hide it. */
  readonly sharer?: Sharer | undefined;
  readonly preview?: LinkPreview | undefined;
}

/** The person who shares a link. */
export interface Sharer {
  readonly name: string;
  /** Their picture; undefined without one. */
  readonly pictureUrl: string | undefined;
}

/** A name with a URL. */
export interface PageLink {
  readonly name: string;
  readonly url: string;
}

/** A page that loads the frame's scripts. @param preview what chat programs show of the link; undefined for only the title */
export function renderFramed(
  { basePath, scripts }: SharePageFrame,
  title: string,
  main: Html,
  preview?: LinkPreview,
): string {
  const [module, ...imports] = scripts;
  const head = preview && renderLinkPreview(preview);
  if (module === undefined) return renderPage(basePath, title, main, head);
  return renderPage(
    basePath,
    title,
    html`${main}
${imports.map((path) => html`<link rel="modulepreload" href="${basePath}${path}">`)}
<script type="module" src="${basePath}${module}"></script>`,
    head,
  );
}

/**
 * The page that `/s/{token}` shows in a browser: the file's name and type, a preview, a download button.
 * Send it with `Cache-Control: private, no-cache`, `Referrer-Policy: no-referrer` and `X-Robots-Tag: noindex`.
 */
export function renderSharePage(frame: SharePageFrame, model: SharePageModel): string {
  const kind = describeKind(model.mediaType, model.fileName);
  return renderFramed(
    frame,
    model.fileName,
    html`<article class="card"${model.isReadable === true && html` data-text="${model.downloadUrl}"`}>
${model.folder !== undefined && html`<nav class="crumbs" aria-label="Folder"><a href="${model.folder.url}">${model.folder.name}</a></nav>`}
${renderPreview(model, kind)}
<h1 dir="auto">${model.fileName}</h1>
<ul class="facts"><li>${kind}</li><li>${formatSize(model.sizeBytes)}</li>${renderSharer(model.sharer)}${renderExpiry(model.expiresAtMs ?? null)}</ul>
<p class="actions"><a class="button" href="${model.downloadUrl}" download>Download</a>${renderOpen(model)}</p>
</article>`,
    model.preview,
  );
}

/** The form for a link's password. It reveals nothing about the share, and sends the field `password` by POST. */
export function renderUnlockPage(frame: SharePageFrame, unlockUrl: string, problem?: string): string {
  return renderFramed(
    frame,
    problem === undefined ? "Enter the password" : "Error: Enter the password",
    html`<div class="card">
<h1>Enter the password</h1>
<p>This link is protected with a password. Ask the sender if you don't have it.</p>
<form method="post" action="${unlockUrl}" data-unlock>
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

/** The page for unknown and deleted links (404); the same for both, so that it does not reveal which. */
export function renderShareNotFoundPage(basePath: string): string {
  return renderPage(
    basePath,
    "Link not found",
    html`<div class="card">
<h1>Link not found</h1>
<p>The link may be incomplete, or the owner may have stopped sharing.</p>
<p class="quiet">Check the link, or ask the sender for a new one.</p>
</div>`,
  );
}

/** The page for other rejections: the link has expired or reached its download limit, or there were too many attempts. */
export function renderShareRejectedPage(basePath: string, title: string, message: string): string {
  return renderPage(
    basePath,
    title,
    html`<div class="card">
<h1>${title}</h1>
<p>${message}</p>
</div>`,
  );
}

/** The page of a share between accounts: shows its recipient where to find it. */
export function renderReceivedSharePage(
  basePath: string,
  model: { readonly name: string; readonly ownerName: string; readonly canWrite: boolean },
): string {
  return renderPage(
    basePath,
    model.name,
    html`<div class="card">
<h1 dir="auto">${model.name}</h1>
<p><strong dir="auto">${model.ownerName}</strong> shared this with you. ${model.canWrite ? "You can view and change it" : "You can view it"}.</p>
<p>To open it, go to “Shared with me”, here or in a connected program.</p>
<p class="actions"><a class="button" href="${basePath}/shared/with-me">Open “Shared with me”</a></p>
</div>`,
  );
}

/** Who shares a link. The name may be written in the other direction than the text around it. */
export function renderSharer(sharer: Sharer | undefined): Html {
  return sharer === undefined ? html`` : html`<li>${renderPicture(sharer)}Shared by <bdi>${sharer.name}</bdi></li>`;
}

/** The picture of who shares a link; the name is next to it. */
export function renderPicture({ pictureUrl }: Sharer): Html {
  if (pictureUrl === undefined) return html``;
  return html`<img class="sharer" src="${pictureUrl}" alt="" width="24" height="24" decoding="async"> `;
}

/** When a link expires; empty if never. A script converts the time to the reader's time zone. */
export function renderExpiry(expiresAtMs: number | null): Html {
  if (expiresAtMs === null) return html``;
  const instant = new Date(expiresAtMs).toISOString();
  return html`<li>Expires <time datetime="${instant}" data-instant>${instant.slice(0, 16).replace("T", " ")} UTC</time></li>`;
}

/** Audio and video load only when played: each is a download, which is counted and reported to the owner. */
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
  return html`<a class="button second" href="${inlineUrl}">Open in browser</a>`;
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^image\//, "Image"],
  [/^audio\//, "Audio"],
  [/^video\//, "Video"],
  [/^application\/pdf$/, "PDF document"],
  [/^(application\/(zip|gzip|x-7z-compressed|x-tar|vnd\.rar|x-bzip2|x-xz|zstd)$)/, "Archive"],
  [/(wordprocessingml|msword|opendocument\.text|rtf)/, "Text document"],
  [/(spreadsheet|ms-excel)/, "Spreadsheet"],
  [/(presentation|powerpoint)/, "Presentation"],
  [/^text\//, "Text"],
];

/** The type of a file for people: `Image (JPG)`. */
export function describeKind(mediaType: string, fileName: string): string {
  const extension = extensionOf(fileName);
  const kind = KINDS.find(([pattern]) => pattern.test(mediaType))?.[1] ?? "File";
  return extension === undefined || kind.startsWith(extension) ? kind : `${kind} (${extension})`;
}

/** The extension in capitals, if it has at most five letters or digits. */
export function extensionOf(fileName: string): string | undefined {
  return /[^.]\.([a-z0-9]{1,5})$/i.exec(fileName)?.[1]?.toUpperCase();
}

const UNITS = ["bytes", "KB", "MB", "GB", "TB", "PB"] as const;

/** A size for people in units of 1,024, like the limits: `3.4 MB`. */
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
