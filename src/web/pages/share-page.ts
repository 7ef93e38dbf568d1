/** The pages that a public link shows in a browser. They work without script; `src/client/public/` enhances them. */
import { formatInstant } from "../../translations/formats.ts";
import { type Html, html, htmlMessage } from "./html.ts";
import { type LinkPreview, renderLinkPreview } from "./link-preview.ts";
import { PAGE_POLICY, type PageFrame, renderPage } from "./page.ts";
import { shareTexts } from "./share-text.ts";

/** {@link PAGE_POLICY} plus our own scripts and requests to this server. */
export const SHARE_PAGE_POLICY = `${PAGE_POLICY}; script-src 'self'; connect-src 'self'`;

/** Where the page of a link is served, and the scripts that it loads. */
export interface SharePageFrame extends PageFrame {
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
export function renderFramed(frame: SharePageFrame, title: string, main: Html, preview?: LinkPreview): string {
  const { basePath } = frame;
  const [module, ...imports] = frame.scripts;
  const head = preview && renderLinkPreview(preview);
  if (module === undefined) return renderPage(frame, title, main, head);
  return renderPage(
    frame,
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
  const { language } = frame;
  const text = shareTexts(language);
  const kind = describeKind(language, model.mediaType, model.fileName);
  return renderFramed(
    frame,
    model.fileName,
    html`<article class="card"${model.isReadable === true && html` data-text="${model.downloadUrl}"`}>
${model.folder !== undefined && html`<nav class="crumbs" aria-label="${text.folder}"><a href="${model.folder.url}">${model.folder.name}</a></nav>`}
${renderPreview(language, model, kind)}
<h1><bdi>${model.fileName}</bdi></h1>
<ul class="facts"><li>${kind}</li><li>${text.size({ bytes: model.sizeBytes })}</li>${renderSharer(language, model.sharer)}${renderExpiry(language, model.expiresAtMs ?? null)}</ul>
<p class="actions"><a class="button" href="${model.downloadUrl}" download>${text.download}</a>${renderOpen(language, model)}</p>
</article>`,
    model.preview,
  );
}

/** The form for a link's password. It reveals nothing about the share, and sends the field `password` by POST. */
export function renderUnlockPage(frame: SharePageFrame, unlockUrl: string, problem?: string): string {
  const text = shareTexts(frame.language);
  return renderFramed(
    frame,
    problem === undefined ? text.unlockTitle : text.unlockProblemTitle,
    html`<div class="card">
<h1>${text.unlockTitle}</h1>
<p>${text.unlockLead}</p>
<form method="post" action="${unlockUrl}" data-unlock>
<div class="field">
<label for="password">${text.password}</label>
<input type="password" id="password" name="password" autocomplete="off" required maxlength="256" autofocus${problem !== undefined && html` aria-invalid="true" aria-describedby="password-wrong"`}>
${problem !== undefined && html`<p class="wrong" id="password-wrong" role="alert">${problem}</p>`}
</div>
<button class="button" type="submit">${text.open}</button>
</form>
</div>`,
  );
}

/** The page for unknown and deleted links (404); the same for both, so that it does not reveal which. */
export function renderShareNotFoundPage(frame: PageFrame): string {
  const text = shareTexts(frame.language);
  return renderPage(
    frame,
    text.notFound,
    html`<div class="card">
<h1>${text.notFound}</h1>
<p>${text.notFoundLead}</p>
<p class="quiet">${text.notFoundHint}</p>
</div>`,
  );
}

/** The page for other rejections: the link has expired or reached its download limit, or there were too many attempts. */
export function renderShareRejectedPage(frame: PageFrame, title: string, message: string): string {
  return renderPage(
    frame,
    title,
    html`<div class="card">
<h1>${title}</h1>
<p>${message}</p>
</div>`,
  );
}

/** The page of a share between accounts: shows its recipient where to find it. */
export function renderReceivedSharePage(
  frame: PageFrame,
  model: { readonly name: string; readonly ownerName: string; readonly canWrite: boolean },
): string {
  const text = shareTexts(frame.language);
  const owner = html`<strong dir="auto">${model.ownerName}</strong>`;
  return renderPage(
    frame,
    model.name,
    html`<div class="card">
<h1><bdi>${model.name}</bdi></h1>
<p>${htmlMessage(model.canWrite ? text.receivedWritable : text.received, { owner })}</p>
<p>${text.receivedLead}</p>
<p class="actions"><a class="button" href="${frame.basePath}/shared/with-me">${text.openReceived}</a></p>
</div>`,
  );
}

/** Who shares a link. The name may be written in the other direction than the text around it. */
export function renderSharer(language: string, sharer: Sharer | undefined): Html {
  if (sharer === undefined) return html``;
  const text = shareTexts(language);
  return html`<li>${renderPicture(sharer)}${htmlMessage(text.sharedBy, { name: html`<bdi>${sharer.name}</bdi>` })}</li>`;
}

/** The picture of who shares a link; the name is next to it. */
export function renderPicture({ pictureUrl }: Sharer): Html {
  if (pictureUrl === undefined) return html``;
  return html`<img class="sharer" src="${pictureUrl}" alt="" width="24" height="24" decoding="async"> `;
}

/** When a link expires; empty if never. A script converts the time to the reader's time zone. */
export function renderExpiry(language: string, expiresAtMs: number | null): Html {
  if (expiresAtMs === null) return html``;
  const text = shareTexts(language);
  const instant = new Date(expiresAtMs).toISOString();
  const time = html`<time datetime="${instant}" data-instant>${formatInstant(language, expiresAtMs)}</time>`;
  return html`<li>${htmlMessage(text.expires, { time })}</li>`;
}

/** Audio and video load only when played: each is a download, which is counted and reported to the owner. */
function renderPreview(language: string, model: SharePageModel, kind: string): Html {
  const { mediaType, inlineUrl, previewUrl, fileName } = model;
  if (inlineUrl !== undefined && mediaType.startsWith("video/")) {
    const poster = previewUrl === undefined ? html`` : html` poster="${previewUrl}"`;
    return html`<div class="preview"><video controls preload="none" src="${inlineUrl}"${poster} aria-label="${fileName}"></video></div>`;
  }
  if (inlineUrl !== undefined && mediaType.startsWith("audio/")) {
    return html`<div class="preview"><audio controls preload="none" src="${inlineUrl}" aria-label="${fileName}"></audio></div>`;
  }
  if (previewUrl !== undefined) {
    return html`<div class="preview"><img src="${previewUrl}" alt="${shareTexts(language).preview({ name: fileName })}"></div>`;
  }
  return html`<div class="preview"><span class="kind" aria-hidden="true">${extensionOf(fileName) ?? kind.split(" ")[0]}</span></div>`;
}

function renderOpen(language: string, model: SharePageModel): Html {
  const { inlineUrl, mediaType } = model;
  if (inlineUrl === undefined || mediaType.startsWith("audio/") || mediaType.startsWith("video/")) return html``;
  return html`<a class="button second" href="${inlineUrl}">${shareTexts(language).openInBrowser}</a>`;
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^image\//, "image"],
  [/^audio\//, "audio"],
  [/^video\//, "video"],
  [/^application\/pdf$/, "pdf"],
  [/^(application\/(zip|gzip|x-7z-compressed|x-tar|vnd\.rar|x-bzip2|x-xz|zstd)$)/, "archive"],
  [/(wordprocessingml|msword|opendocument\.text|rtf)/, "text_document"],
  [/(spreadsheet|ms-excel)/, "spreadsheet"],
  [/(presentation|powerpoint)/, "presentation"],
  [/^text\//, "text"],
];

/** The type of a file for people: `Image (JPG)`. */
export function describeKind(language: string, mediaType: string, fileName: string): string {
  const text = shareTexts(language);
  const extension = extensionOf(fileName);
  const kind = text.kinds(KINDS.find(([pattern]) => pattern.test(mediaType))?.[1] ?? "file");
  return extension === undefined || kind.includes(extension) ? kind : text.kindWithExtension({ kind, extension });
}

/** The extension in capitals, if it has at most five letters or digits. */
export function extensionOf(fileName: string): string | undefined {
  return /[^.]\.([a-z0-9]{1,5})$/i.exec(fileName)?.[1]?.toUpperCase();
}
