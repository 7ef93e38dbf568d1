/** Renders the pages of links, which work without script. */
import { errorResponseOf } from "../../../http/error-response.ts";
import { type Query, readChoice, queryOf } from "../../../http/fields.ts";
import { canInline } from "../../../http/send-blob.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import { renderDropBoxPage } from "../../../web/pages/drop-box-page.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import type { PageScripts } from "../../../web/bundle/client-files.ts";
import type { LinkPreview } from "../../../web/pages/link-preview.ts";
import { pageFrame, pageResponse } from "../../../web/pages/page.ts";
import {
  describeKind,
  type PageLink,
  renderReceivedSharePage,
  renderSharePage,
  SHARE_PAGE_POLICY,
  type Sharer,
  type SharePageFrame,
} from "../../../web/pages/share-page.ts";
import { renderSharedFolderPage, type SharedEntry, type SharedView } from "../../../web/pages/shared-folder-page.ts";
import { sharedFolderTexts, shareTexts } from "../../../web/pages/share-text.ts";
import { findSignIn } from "../../accounts/auth/guard.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import type { AuthService } from "../../accounts/auth/service.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { AvatarService } from "../avatars/service.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, FolderNode, TreeNode } from "../../../tree/model/types.ts";
import { SHARE_CACHE_CONTROL, SHARE_HEADERS, type ShareSender } from "./share-sender.ts";
import type { ShareAccess } from "./share-access.ts";
import { linkRequestOf } from "./share-requests.ts";
import { readSharedAlbum, readSharedListing, type SharedListing } from "./listing.ts";
import { hasPreview, isCrawler, pictureOf } from "./link-preview.ts";
import { folderTitle, listedSize, relativePath, titleOf } from "./present.ts";
import { sharerName, shownName } from "./shown-name.ts";
import type { ShareStatistics } from "./statistics.ts";
import type { OpenedShare, SharedAlbum } from "./types.ts";
import type { DropBox, DroppedFile } from "./drop-box-form.ts";

/** Dependencies of {@link SharePages}. */
export interface SharePagesOptions {
  readonly shareAccess: ShareAccess;
  readonly sender: ShareSender;
  readonly dropBox: DropBox;
  readonly statistics: ShareStatistics;
  readonly tree: TreeReader;
  readonly albums: Pick<AlbumService, "page" | "summaries">;
  readonly users: Pick<UserService, "settingsJson">;
  readonly avatars: Pick<AvatarService, "versionOf">;
  readonly auth: Pick<AuthService, "identify">;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
  /** The scripts of the pages, below the base path. */
  readonly scripts: (language: string) => Promise<PageScripts>;
}

/** Headers of every page about a share. */
export const PAGE_HEADERS = { ...SHARE_HEADERS, "cache-control": SHARE_CACHE_CONTROL };
const FRAMED_HEADERS = { ...PAGE_HEADERS, "content-security-policy": SHARE_PAGE_POLICY };
const ENTRIES_PER_PAGE = 100;
/** Scripts fetch and show text files up to this size. */
const READABLE_BYTES_MAX = 512 * 1024;
const READABLE = /^(text\/|application\/(json|xml|yaml|toml|javascript|typescript|x-sh|sql)\b)/;
/** Orders that the page of a folder accepts. Links from outside may have those of the API. */
const FOLDER_SORTS = ["natural", "name", "size", "createdAt", "modifiedAt"] as const;
const ALBUM_SORTS: PageListing["sorts"] = [
  ["position", "position"],
  ["name", "name"],
];
const VIEWS = ["list", "grid"] as const;

/** A page of a shared folder or album. */
interface PageListing extends Pick<SharedListing, "nodes" | "total" | "page" | "limit" | "order"> {
  readonly kind: "folder" | "album";
  readonly name: string;
  readonly description?: string;
  readonly above: readonly PageLink[];
  /** Path within the share. */
  readonly path: string;
  readonly isTop: boolean;
  readonly sort: string;
  /** Orders to choose from, with the keys of their names. */
  readonly sorts: readonly (readonly [string, string])[];
}

/** The request for a page. */
interface PageRequest {
  readonly query: Query;
  /** The address of this server in it. */
  readonly baseUrl: string;
  readonly frame: SharePageFrame;
}

/** What the preview of a page says. */
interface PreviewFacts {
  readonly title: string;
  readonly facts: readonly string[];
  readonly picture: FileNode | undefined;
}

/** The date that a page shows of files, and sorts them by. A share may hide when its photos were taken. */
function dateField({ share }: OpenedShare): "fileModifiedAt" | "modifiedAt" {
  return share.hidesLocation ? "modifiedAt" : "fileModifiedAt";
}

/** Renders the pages of an open share. */
export class SharePages {
  readonly #options: SharePagesOptions;

  constructor(options: SharePagesOptions) {
    this.#options = options;
  }

  /** The page that the query selects. @throws AppError as ShareAccess.open; for an invalid query */
  async show(opened: OpenedShare, request: Request): Promise<Response> {
    const { shareAccess, tree, statistics } = this.#options;
    const query = queryOf(request);
    const isFirst = query["fileId"] === undefined && query["folder"] === undefined;
    if (isFirst && !isCrawler(request)) statistics.noteView(opened.share);
    if (opened.share.kind === "upload") return this.dropBox(opened, request, {});
    const page: PageRequest = {
      query,
      baseUrl: requestContextOf(request).baseUrl,
      frame: await this.#frame(request),
    };
    if (opened.node.kind === "file") return this.#file(opened, opened.node, page);
    const fileId = query["fileId"];
    if (fileId !== undefined) return this.#file(opened, shareAccess.file(opened, fileId), page);
    if (opened.node.kind === "album") return this.#album(opened, opened.node, page);
    const defaults = { limit: ENTRIES_PER_PAGE, sorts: [...FOLDER_SORTS, dateField(opened)] as const };
    const listing = await readSharedListing(shareAccess, tree, opened, query, defaults);
    return this.#folder(opened, listing, page);
  }

  /** The page of a share between accounts, if its recipient is signed in. */
  async received(token: string, request: Request): Promise<Response | undefined> {
    const user = (await findSignIn(this.#options.auth, request))?.user;
    const opened = user === undefined ? undefined : this.#options.shareAccess.findReceived(token, user);
    if (opened === undefined) return undefined;
    const { node, owner, share } = opened;
    const page = renderReceivedSharePage(pageFrame(request, this.#options.basePath), {
      name: titleOf(node),
      ownerName: owner.name || owner.email,
      canWrite: share.canWrite,
    });
    return pageResponse(page, 200, PAGE_HEADERS);
  }

  /** The form of a drop box, with the result for the last file. */
  async dropBox(
    opened: OpenedShare,
    request: Request,
    last: { received?: DroppedFile; error?: unknown },
  ): Promise<Response> {
    const { basePath, dropBox } = this.#options;
    const { received } = last;
    const { grant } = linkRequestOf(request, opened.token, "upload");
    const failure = last.error === undefined ? undefined : errorResponseOf(last.error, "", request);
    const address = `${basePath}/api/public/${opened.token}`;
    const isLocked = opened.share.passwordHash !== null;
    const page = renderDropBoxPage(await this.#frame(request), {
      title: opened.share.label ?? undefined,
      sharer: this.#sharerOf(opened),
      uploadUrl: `${this.#urlOf(opened)}/upload`,
      resumableUrl: `${address}/tus`,
      lock: isLocked && grant !== undefined ? { unlockUrl: `${address}/unlock`, grant } : undefined,
      maxFileSizeBytes: dropBox.largestFile(opened),
      expiresAtMs: opened.share.expiresAtMs,
      received: received && { name: received.name, sizeBytes: received.size, checksum: received.checksum },
      problem: failure?.body.error.message,
    });
    return pageResponse(page, failure?.status ?? (received === undefined ? 200 : 201), FRAMED_HEADERS);
  }

  async #file(opened: OpenedShare, file: FileNode, { frame, baseUrl }: PageRequest): Promise<Response> {
    const { hasThumbnail, sender } = this.#options;
    const isInFolder = opened.node.kind !== "file";
    const url = `${this.#urlOf(opened)}/download?${isInFolder ? `fileId=${file.publicId}&` : ""}`;
    const content = opened.share.hidesLocation
      ? await sender.describe(opened, file)
      : { mediaType: file.mediaType, sizeBytes: file.sizeBytes };
    const isFree = isPreviewFree(opened);
    const fileName = shownName(opened, file);
    const { language } = frame;
    const size = shareTexts(language).size({ bytes: content.sizeBytes });
    const facts = [describeKind(language, content.mediaType, fileName), size];
    const page = renderSharePage(frame, {
      fileName,
      ...content,
      downloadUrl: url.slice(0, -1),
      inlineUrl: canInline(content.mediaType) && isFree ? `${url}inline=true` : undefined,
      previewUrl: hasThumbnail(file) ? `${url}thumbnail=large` : undefined,
      isReadable: isFree && isReadable(content.mediaType, content.sizeBytes),
      folder: isInFolder ? this.#folderOf(opened, file) : undefined,
      expiresAtMs: opened.share.expiresAtMs,
      sharer: this.#sharerOf(opened),
      preview: this.#preview(opened, { title: fileName, facts, picture: file }, { language, baseUrl }),
    });
    return pageResponse(page, 200, FRAMED_HEADERS);
  }

  async #folder(opened: OpenedShare, listing: SharedListing, page: PageRequest): Promise<Response> {
    const { folder } = listing;
    return this.#list(
      opened,
      {
        ...listing,
        kind: "folder",
        name: folderTitle(folder),
        above: this.#above(opened, folder),
        path: relativePath(opened, folder.path),
        isTop: folder.id === opened.node.id,
        sorts: [
          ["natural", "name"],
          ["size", "size"],
          [dateField(opened), "date"],
        ],
      },
      page,
    );
  }

  async #album(opened: OpenedShare, album: SharedAlbum, page: PageRequest): Promise<Response> {
    const { files, ...listing } = await readSharedAlbum(this.#options.albums, album, page.query, ENTRIES_PER_PAGE);
    return this.#list(
      opened,
      {
        ...listing,
        nodes: files,
        kind: "album",
        name: album.name,
        description: album.description,
        above: [],
        path: ROOT_PATH,
        isTop: true,
        sorts: ALBUM_SORTS,
      },
      page,
    );
  }

  async #list(opened: OpenedShare, listing: PageListing, request: PageRequest): Promise<Response> {
    const { query, baseUrl, frame } = request;
    const { language } = frame;
    const text = sharedFolderTexts(language);
    const { page, limit, total, sort, order } = listing;
    const pages = Math.max(1, Math.ceil(total / limit));
    const chosenView = readChoice(query["view"], "view", VIEWS);
    const view = chosenView ?? (this.#isMostlyPictures(listing.nodes) ? "grid" : "list");
    const urlOf = (changes: Record<string, string>) => {
      const currentChoices = { folder: listing.path, sort, order, ...(chosenView !== undefined && { view }) };
      return `${this.#urlOf(opened)}?${new URLSearchParams({ ...currentChoices, ...changes }).toString()}`;
    };
    const canArchive = !opened.share.hidesLocation;
    const picture = await pictureOf(this.#options, opened, listing.nodes);
    const preview = { title: listing.name, facts: [text.items({ n: total })], picture };
    const html = renderSharedFolderPage(frame, {
      kind: listing.kind,
      name: listing.name,
      description: listing.description ?? "",
      above: listing.above,
      entries: listing.nodes.map((node) => this.#entry(opened, node, view === "grid")),
      total,
      sorts: listing.sorts.map(([field, name]) => ({
        name: text.sorts(name),
        isChosen: field === sort,
        url: urlOf({ sort: field, order: field === sort && order === "asc" ? "desc" : "asc" }),
      })),
      views: VIEWS.map((each) => ({
        name: text.views(each),
        isChosen: each === view,
        url: urlOf({ view: each, page: String(page) }),
      })),
      isGrid: view === "grid",
      page,
      pages,
      previousUrl: page > 1 ? urlOf({ page: String(page - 1) }) : undefined,
      nextUrl: page < pages ? urlOf({ page: String(page + 1) }) : undefined,
      archiveUrl: listing.isTop && canArchive ? `${this.#urlOf(opened)}/download` : undefined,
      selectionUrl: canArchive ? `${this.#urlOf(opened)}/archive` : undefined,
      expiresAtMs: opened.share.expiresAtMs,
      sharer: this.#sharerOf(opened),
      preview: this.#preview(opened, preview, { language, baseUrl }),
    });
    return pageResponse(html, 200, FRAMED_HEADERS);
  }

  #entry(opened: OpenedShare, node: TreeNode, isGrid: boolean): SharedEntry {
    const { publicId } = node;
    if (node.kind === "folder") {
      const { name, modifiedAtMs: dateMs, itemCount } = node;
      const url = this.#folderUrl(opened, relativePath(opened, node.path));
      return { id: publicId, name, url, dateMs, file: undefined, itemCount };
    }
    const downloadUrl = `${this.#urlOf(opened)}/download?fileId=${publicId}`;
    const hasThumbnail = this.#options.hasThumbnail(node);
    const kind = viewOf(opened, node, hasThumbnail);
    const viewQuery = kind === "image" ? "thumbnail=large" : "inline=true";
    return {
      id: publicId,
      name: shownName(opened, node),
      url: `${this.#urlOf(opened)}?fileId=${publicId}`,
      dateMs: dateField(opened) === "modifiedAt" ? node.modifiedAtMs : node.fileAtMs,
      file: {
        sizeBytes: listedSize(opened, node),
        mediaType: node.mediaType,
        downloadUrl,
        thumbnailUrl: hasThumbnail ? `${downloadUrl}&thumbnail=${isGrid ? "medium" : "small"}` : undefined,
        view: kind && { kind, url: `${downloadUrl}&${viewQuery}` },
      },
      itemCount: 0,
    };
  }

  #isMostlyPictures(nodes: readonly TreeNode[]): boolean {
    const pictures = nodes.filter((node) => node.kind === "file" && this.#options.hasThumbnail(node));
    return pictures.length > nodes.length / 2;
  }

  /** The folder that a file of the shared folder is in, or the shared album. */
  #folderOf(opened: OpenedShare, file: FileNode): PageLink {
    const path = relativePath(opened, file.folder);
    const name = path === ROOT_PATH ? titleOf(opened.node) : path.slice(path.lastIndexOf("/") + 1);
    return { name, url: this.#folderUrl(opened, path) };
  }

  /** The parent folders of a folder, from the shared folder on. */
  #above(opened: OpenedShare, folder: FolderNode): PageLink[] {
    const path = relativePath(opened, folder.path);
    if (path === ROOT_PATH) return [];
    const names = path.slice(1).split("/").slice(0, -1);
    return [
      { name: titleOf(opened.node), url: this.#urlOf(opened) },
      ...names.map((name, index) => ({
        name,
        url: this.#folderUrl(opened, `/${names.slice(0, index + 1).join("/")}`),
      })),
    ];
  }

  #folderUrl(opened: OpenedShare, path: string): string {
    return path === ROOT_PATH ? this.#urlOf(opened) : `${this.#urlOf(opened)}?folder=${encodeURIComponent(path)}`;
  }

  #urlOf({ token }: OpenedShare): string {
    return `${this.#options.basePath}/s/${token}`;
  }

  #sharerOf(opened: OpenedShare): Sharer | undefined {
    const { users, avatars } = this.#options;
    const { owner } = opened;
    const name = sharerName(owner, users.settingsJson(owner.id));
    if (name === undefined) return undefined;
    const version = avatars.versionOf(owner.id);
    return { name, pictureUrl: version === null ? undefined : `${this.#urlOf(opened)}/sharer?v=${version}` };
  }

  #preview(
    opened: OpenedShare,
    { title, facts, picture }: PreviewFacts,
    { language, baseUrl }: { readonly language: string; readonly baseUrl: string },
  ): LinkPreview | undefined {
    if (!hasPreview(opened)) return undefined;
    const hasPicture = picture !== undefined && this.#options.hasThumbnail(picture);
    const query = opened.node.kind === "file" || picture === undefined ? "" : `?fileId=${picture.publicId}`;
    const pictureUrl = hasPicture ? `${baseUrl}/s/${opened.token}/picture${query}` : undefined;
    const sharer = this.#sharerOf(opened);
    const sharedBy = sharer === undefined ? [] : [shareTexts(language).sharedBy({ name: sharer.name })];
    return { title, description: [...facts, ...sharedBy].join(" · "), pictureUrl };
  }

  async #frame(request: Request): Promise<SharePageFrame> {
    const { basePath, scripts } = this.#options;
    const frame = pageFrame(request, basePath);
    return { ...frame, ...(await scripts(frame.language)) };
  }
}

/** Whether a page may load content without a click. With a download limit it may not: each view takes a download. */
function isPreviewFree({ share }: OpenedShare): boolean {
  return share.maxDownloads === null;
}

/** How a script may preview a file; photos by their large thumbnail, which does not count as a download. */
function viewOf(opened: OpenedShare, file: FileNode, hasThumbnail: boolean): SharedView | undefined {
  const isFree = isPreviewFree(opened);
  if (isFree && canInline(file.mediaType)) {
    if (file.mediaType.startsWith("video/")) return "video";
    if (file.mediaType.startsWith("audio/")) return "audio";
  }
  // The picture of a document shows only its first page; its own page offers the document.
  if (hasThumbnail && !file.mediaType.startsWith("application/")) return "image";
  return isFree && isReadable(file.mediaType, file.sizeBytes) ? "text" : undefined;
}

function isReadable(mediaType: string, sizeBytes: number): boolean {
  return READABLE.test(mediaType) && sizeBytes <= READABLE_BYTES_MAX;
}
