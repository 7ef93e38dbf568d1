/** The page of a shared folder or album: a list or a grid with downloads. Works without script. */
import { formatDay } from "../../translations/formats.ts";
import { type Html, html } from "./html.ts";
import type { LinkPreview } from "./link-preview.ts";
import {
  describeKind,
  extensionOf,
  type PageLink,
  renderExpiry,
  renderFramed,
  renderSharer,
  type Sharer,
  type SharePageFrame,
} from "./share-page.ts";
import { sharedFolderTexts, shareTexts } from "./share-text.ts";

/** How a script can preview a file on the page. */
export type SharedView = "image" | "video" | "audio" | "text";

/** A file or folder in a shared folder. */
export interface SharedEntry {
  readonly id: string;
  readonly name: string;
  /** Its page. */
  readonly url: string;
  readonly dateMs: number;
  /** Undefined for a folder. */
  readonly file:
    | {
        /** Null if unknown. */
        readonly sizeBytes: number | null;
        readonly mediaType: string;
        readonly downloadUrl: string;
        /** A preview image of up to 512 pixels. */
        readonly thumbnailUrl: string | undefined;
        /** How a script previews the file, and from which URL. */
        readonly view: { readonly kind: SharedView; readonly url: string } | undefined;
      }
    | undefined;
  /** Number of items directly in a folder; 0 for a file. */
  readonly itemCount: number;
}

/** Data for the page of a shared folder or album. */
interface SharedFolderModel {
  readonly kind: "folder" | "album";
  readonly name: string;
  /** Empty for none. */
  readonly description: string;
  /** Parent folders, starting at the shared folder; empty for the shared folder itself. */
  readonly above: readonly PageLink[];
  readonly entries: readonly SharedEntry[];
  readonly total: number;
  /** Links to other sort orders; `isChosen` marks the current one. */
  readonly sorts: readonly ChosenLink[];
  /** Links to the list and the grid view. */
  readonly views: readonly ChosenLink[];
  readonly isGrid: boolean;
  readonly page: number;
  readonly pages: number;
  readonly previousUrl: string | undefined;
  readonly nextUrl: string | undefined;
  /** Downloads everything as a ZIP; undefined if not available. */
  readonly archiveUrl: string | undefined;
  /** Receives the form with the selected items; undefined if no ZIP is available. */
  readonly selectionUrl: string | undefined;
  readonly expiresAtMs: number | null;
  /** The person who shares it; undefined if they hide it. */
  readonly sharer: Sharer | undefined;
  readonly preview: LinkPreview | undefined;
}

/** One of several views or sort orders of a page. */
type ChosenLink = PageLink & { readonly isChosen: boolean };

/** Renders the page of a shared album, or of a shared folder or one of its subfolders. */
export function renderSharedFolderPage(frame: SharePageFrame, model: SharedFolderModel): string {
  const { language } = frame;
  const text = sharedFolderTexts(language);
  const isAlbum = model.kind === "album";
  return renderFramed(
    frame,
    model.name,
    html`<article class="card wide">
${model.above.length > 0 && html`<nav class="crumbs" aria-label="${text.foldersAbove}">${model.above.map(({ name, url }) => html`<a href="${url}" dir="auto">${name}</a><span aria-hidden="true">/</span>`)}</nav>`}
<h1><bdi>${model.name}</bdi></h1>
${model.description !== "" && html`<p dir="auto">${model.description}</p>`}
<ul class="facts"><li>${isAlbum ? text.album : text.folder}</li><li>${text.items({ n: model.total })}</li>${renderSharer(language, model.sharer)}${renderExpiry(language, model.expiresAtMs)}</ul>
${model.archiveUrl !== undefined && model.total > 0 && html`<p class="actions"><a class="button" href="${model.archiveUrl}" download>${text.downloadAll}</a></p>`}
${model.total > 0 && html`<div class="bar">${model.total > 1 && html`<span>${text.sortBy} ${model.sorts.map(renderChoice)}</span>`}<span class="push">${text.viewAs} ${model.views.map(renderChoice)}</span></div>`}
${model.entries.length === 0 ? html`<p class="quiet">${isAlbum ? text.emptyAlbum : text.emptyFolder}</p>` : renderEntries(language, model)}
${model.pages > 1 && html`<nav class="pages" aria-label="${text.pages}">${model.previousUrl !== undefined && html`<a class="button second" rel="prev" href="${model.previousUrl}">${text.previous}</a>`}<span>${text.page({ page: model.page, pages: model.pages })}</span>${model.nextUrl !== undefined && html`<a class="button second" rel="next" href="${model.nextUrl}">${text.next}</a>`}</nav>`}
</article>`,
    model.preview,
  );
}

function renderEntries(language: string, model: SharedFolderModel): Html {
  const isPickable = model.selectionUrl !== undefined;
  const list = html`<ul class="entries${model.isGrid && " grid"}" data-gallery>${model.entries.map((entry) => renderEntry(language, entry, isPickable))}</ul>`;
  if (!isPickable) return list;
  return html`<form class="selection" method="post" action="${model.selectionUrl}" data-selection>
${list}
<div class="chosen"><button class="button second" type="submit">${sharedFolderTexts(language).downloadSelected}</button></div>
</form>`;
}

function renderEntry(language: string, entry: SharedEntry, isPickable: boolean): Html {
  const text = sharedFolderTexts(language);
  const { id, name, url, file } = entry;
  const date = renderDay(language, entry.dateMs);
  const pick =
    isPickable &&
    html`<label class="pick"><input type="checkbox" name="id" value="${id}" aria-label="${text.select({ name })}"></label>`;
  if (file === undefined) {
    return html`<li>${pick}<a class="name" href="${url}"><span class="thumb folder" aria-hidden="true"></span><span><bdi>${name}/</bdi></span></a><span class="fact">${text.items({ n: entry.itemCount })}</span><span class="fact">${date}</span><span class="get"></span></li>`;
  }
  const kind = extensionOf(name) ?? describeKind(language, file.mediaType, name).split(" ")[0];
  const picture =
    file.thumbnailUrl === undefined
      ? html`<span class="thumb" aria-hidden="true">${kind}</span>`
      : html`<img class="thumb${file.mediaType.startsWith("application/") && " page"}" src="${file.thumbnailUrl}" alt="" width="48" height="48" loading="lazy" decoding="async">`;
  const view = file.view && html` data-view="${file.view.kind}" data-src="${file.view.url}"`;
  return html`<li>${pick}<a class="name" href="${url}" data-file data-download="${file.downloadUrl}"${view}>${picture}<span><bdi>${name}</bdi></span></a><span class="fact">${file.sizeBytes === null ? "–" : shareTexts(language).size({ bytes: file.sizeBytes })}</span><span class="fact">${date}</span><a class="get" href="${file.downloadUrl}" download aria-label="${text.downloadFile({ name })}">${text.download}</a></li>`;
}

/** A day, which a script writes in the reader's format. */
function renderDay(language: string, atMs: number): Html {
  const instant = new Date(atMs).toISOString();
  return html`<time datetime="${instant}" data-day>${formatDay(language, atMs)}</time>`;
}

function renderChoice({ name, url, isChosen }: ChosenLink): Html {
  return html`<a href="${url}"${isChosen && html` aria-current="true"`}>${name}</a> `;
}
