/** The pages that a public link shows in a browser. They work without script; `src/client/public/` makes more of them. */
import { type Html, html } from "./html.ts";
import { PAGE_POLICY, renderPage } from "./page.ts";

/** As {@link PAGE_POLICY}, with our own scripts and requests to us. */
export const SHARE_PAGE_POLICY = `${PAGE_POLICY}; script-src 'self'; connect-src 'self'`;

/** Where a page of links is served, and what it loads. */
export interface SharePageFrame {
  /** `""`, or a path such as `/files` (D35). */
  readonly basePath: string;
  /** Addresses below the base path: the module, then what it imports. None: a page without script. */
  readonly scripts: readonly string[];
}

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
  /** Whether a script may fetch it to show it as plain text. */
  readonly isReadable?: boolean;
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

/** A page that loads the frame's scripts. */
export function renderFramed({ basePath, scripts }: SharePageFrame, title: string, main: Html): string {
  const [module, ...imports] = scripts;
  if (module === undefined) return renderPage(basePath, title, main);
  return renderPage(
    basePath,
    title,
    html`${main}
${imports.map((path) => html`<link rel="modulepreload" href="${basePath}${path}">`)}
<script type="module" src="${basePath}${module}"></script>`,
  );
}

/**
 * The page that `/s/{token}` shows in a browser: what the file is, a look at it, a download button.
 * Answer it with `Cache-Control: private, no-cache`, `Referrer-Policy: no-referrer`, `X-Robots-Tag: noindex` (contract §5).
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
<ul class="facts"><li>${kind}</li><li>${formatSize(model.sizeBytes)}</li>${renderExpiry(model.expiresAtMs ?? null)}</ul>
<p class="actions"><a class="button" href="${model.downloadUrl}" download>Download</a>${renderOpen(model)}</p>
</article>`,
  );
}

/** The form that asks for a share's password; nothing tells what is behind it. It is sent by POST as the field `password`. */
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

/** The page for links that don't exist, no longer exist, or never did: the same for all of them (404). */
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

/** The page for whatever else keeps somebody out: its time is over, all downloads are taken, too many tries. */
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
<p><strong dir="auto">${model.ownerName}</strong> shared this with you. ${model.canWrite ? "You can view and change it" : "You can view it"}.</p>
<p>To open it, go to “Shared with me”, here or in the app.</p>
<p class="actions"><a class="button" href="${basePath}/shared/with-me">Open “Shared with me”</a></p>
</div>`,
  );
}

/** Until when a link opens; nothing where it has no end. Scripts say it in the reader's own time. */
export function renderExpiry(expiresAtMs: number | null): Html {
  if (expiresAtMs === null) return html``;
  const instant = new Date(expiresAtMs).toISOString();
  return html`<li>Expires <time datetime="${instant}" data-instant>${instant.slice(0, 16).replace("T", " ")} UTC</time></li>`;
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

/** What a file is, in words. */
export function describeKind(mediaType: string, fileName: string): string {
  const extension = extensionOf(fileName);
  const word = KINDS.find(([pattern]) => pattern.test(mediaType))?.[1] ?? "File";
  return extension === undefined || word.startsWith(extension) ? word : `${word} (${extension})`;
}

/** The extension in capitals, where it is a short word. */
export function extensionOf(fileName: string): string | undefined {
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
