/** What a link shows in a browser: plain pages that work without script (contract §5). */
import { Elysia, t } from "elysia";
import { AppError } from "../../errors.ts";
import { answerError } from "../../http/error-response.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { readQuery } from "../../http/fields.ts";
import { readForm } from "../../http/read-form.ts";
import { canInline } from "../../http/send-blob.ts";
import { ROOT_PATH } from "../../lib/path.ts";
import { pageResponse } from "../../web/page.ts";
import {
  type PageLink,
  renderDropBoxPage,
  renderReceivedSharePage,
  renderSharedFolderPage,
  renderShareNotFoundPage,
  renderSharePage,
  renderShareRefusedPage,
  renderUnlockPage,
} from "../../web/share-page.ts";
import { type authGuard, SESSION_COOKIE } from "../auth/guard.ts";
import type { AuthService } from "../auth/service.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import type { TreeReader } from "../tree/reader.ts";
import type { FileNode, FolderNode, SortField, TreeNode } from "../tree/types.ts";
import type { User } from "../users/types.ts";
import { SHARE_CACHE_CONTROL, SHARE_HEADERS, type ShareSender } from "./content-sender.ts";
import type { ShareDoor } from "./door.ts";
import { GRANT_COOKIE, visitOf } from "./guard.ts";
import { GRANT_MS } from "./grants.ts";
import { readSharedListing, type SharedListing } from "./listing.ts";
import { folderTitle, listedSize, relativePath } from "./present.ts";
import { unlock } from "./routes.ts";
import { shownName } from "./shown-name.ts";
import type { ShareStatistics } from "./statistics.ts";
import type { OpenedShare } from "./types.ts";
import type { DropBox, DroppedFile } from "./upload-form.ts";

/** What the pages of links work with. */
export interface SharePageRoutesOptions {
  readonly door: ShareDoor;
  readonly sender: ShareSender;
  readonly dropBox: DropBox;
  readonly statistics: ShareStatistics;
  readonly tree: TreeReader;
  readonly auth: Pick<AuthService, "identify">;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
}

const TokenParams = t.Object({ token: t.String() });
const PAGE_HEADERS = { ...SHARE_HEADERS, "cache-control": SHARE_CACHE_CONTROL };
const FORM_BYTES_MAX = 16 * 1024;
const ENTRIES_PER_PAGE = 100;
const SORTS: readonly (readonly [SortField, string])[] = [
  ["name", "name"],
  ["size", "size"],
  ["modifiedAt", "date"],
];

/** /s/{token}, and where its forms go */
export function sharePageRoutes(options: SharePageRoutesOptions) {
  const { door, rateGate, guard, basePath, dropBox } = options;
  const pages = new SharePages(options);
  const refuse = sharePageRefusal(basePath);

  return new Elysia({ name: "share-page-routes" })
    .use(guard)
    .get(
      "/s/:token",
      async ({ params, request }) => {
        try {
          const opened = door.open(visitOf(request, params.token, "what"));
          return await pages.show(opened, request);
        } catch (error) {
          const received = isReason(error, "not_found") ? await pages.received(params.token, request) : undefined;
          const page = received ?? refuse(error, params.token);
          if (page === undefined) throw error;
          return page;
        }
      },
      { access: "public", params: TokenParams, detail: { hide: true } },
    )
    .post(
      "/s/:token/unlock",
      async ({ params, request, set }) => {
        const { token } = params;
        try {
          checkOrigin(request);
          const password = (await readForm(request, FORM_BYTES_MAX)).get("password") ?? "";
          const { grant } = await unlock(door, rateGate, { token, password }, request, set.headers);
          const path = `${basePath}/s/${token}`;
          const cookie = new Bun.Cookie(GRANT_COOKIE, grant, {
            path,
            httpOnly: true,
            sameSite: "lax",
            secure: exchangeOf(request).isSecure,
            maxAge: GRANT_MS / 1000,
          });
          const headers = { ...PAGE_HEADERS, location: path, "set-cookie": cookie.serialize() };
          return new Response(null, { status: 303, headers });
        } catch (error) {
          const page = refuse(error, token, true);
          if (page === undefined) throw error;
          return page;
        }
      },
      { access: "public", params: TokenParams, parse: "none", detail: { hide: true } },
    )
    .post(
      "/s/:token/upload",
      async ({ params, request }) => {
        const { token } = params;
        const visit = visitOf(request, token, "drop");
        try {
          checkOrigin(request);
          const received = await dropBox.receive(visit, request);
          return pages.dropBox(door.open(visit), { received });
        } catch (error) {
          const page = refuseUpload(error, () => pages.dropBox(door.open(visit), { error })) ?? refuse(error, token);
          if (page === undefined) throw error;
          return page;
        }
      },
      { access: "public", params: TokenParams, parse: "none", detail: { hide: true } },
    );
}

/** Draws the pages of a share that is open. */
class SharePages {
  readonly #options: SharePageRoutesOptions;

  constructor(options: SharePageRoutesOptions) {
    this.#options = options;
  }

  async show(opened: OpenedShare, request: Request): Promise<Response> {
    const { door, tree, statistics } = this.#options;
    const query = readQuery(exchangeOf(request).query);
    if (query["fileId"] === undefined && query["folder"] === undefined) statistics.noteView(opened.share);
    if (opened.share.kind === "upload") return this.dropBox(opened, {});
    if (opened.node.kind === "file") return this.#file(opened, opened.node);
    const fileId = query["fileId"];
    if (fileId !== undefined) return this.#file(opened, door.file(opened, fileId));
    return this.#folder(opened, await readSharedListing(door, tree, opened, query, ENTRIES_PER_PAGE));
  }

  /** The page of a share between accounts, where its recipient is signed in here. */
  async received(token: string, request: Request): Promise<Response | undefined> {
    const user = await this.#signedIn(request);
    const opened = user === undefined ? undefined : this.#options.door.findReceived(token, user);
    if (opened === undefined) return undefined;
    const { node, owner, share } = opened;
    const name = node.kind === "folder" ? folderTitle(node) : node.name;
    const page = renderReceivedSharePage(this.#options.basePath, {
      name,
      ownerName: owner.name || owner.email,
      canWrite: share.canWrite,
    });
    return pageResponse(page, 200, PAGE_HEADERS);
  }

  /** The form of a drop box, with what came of the last file. */
  dropBox(opened: OpenedShare, last: { received?: DroppedFile; error?: unknown }): Response {
    const { basePath, dropBox } = this.#options;
    const { received } = last;
    const answer = last.error === undefined ? undefined : answerError(last.error, "");
    const page = renderDropBoxPage(basePath, {
      title: opened.share.label ?? "Send files",
      uploadUrl: `${this.#urlOf(opened)}/upload`,
      maxFileSizeBytes: dropBox.largestFile(opened),
      expiresAtMs: opened.share.expiresAtMs,
      received: received && { name: received.name, sizeBytes: received.size, checksum: received.checksum },
      problem: answer?.body.error.message,
    });
    return pageResponse(page, answer?.status ?? (received === undefined ? 200 : 201), PAGE_HEADERS);
  }

  async #file(opened: OpenedShare, file: FileNode): Promise<Response> {
    const { basePath, hasThumbnail, sender } = this.#options;
    const isOfFolder = opened.node.kind === "folder";
    const url = `${this.#urlOf(opened)}/download?${isOfFolder ? `fileId=${file.publicId}&` : ""}`;
    const shown = opened.share.hidesLocation
      ? await sender.describe(opened, file)
      : { mediaType: file.mediaType, sizeBytes: file.sizeBytes };
    // Whoever plays or opens it takes a download: where these are limited, only who asks for one.
    const isPlayable = canInline(shown.mediaType) && opened.share.maxDownloads === null;
    const page = renderSharePage(basePath, {
      fileName: shownName(opened, file),
      ...shown,
      downloadUrl: url.slice(0, -1),
      inlineUrl: isPlayable ? `${url}inline=true` : undefined,
      previewUrl: hasThumbnail(file) ? `${url}thumbnail=large` : undefined,
      folder: isOfFolder ? this.#folderOf(opened, file) : undefined,
      expiresAtMs: opened.share.expiresAtMs,
    });
    return pageResponse(page, 200, PAGE_HEADERS);
  }

  #folder(opened: OpenedShare, listing: SharedListing): Response {
    const { folder, page, limit, total, sort, order } = listing;
    const pages = Math.max(1, Math.ceil(total / limit));
    const urlOf = (changes: Record<string, string>) => {
      const params = new URLSearchParams({ folder: relativePath(opened, folder.path), sort, order, ...changes });
      return `${this.#urlOf(opened)}?${params.toString()}`;
    };
    const drawn = renderSharedFolderPage(this.#options.basePath, {
      name: folderTitle(folder),
      above: this.#above(opened, folder),
      entries: listing.nodes.map((node) => this.#entry(opened, node)),
      total,
      sorts: SORTS.map(([field, name]) => ({
        name,
        isChosen: field === sort,
        url: urlOf({ sort: field, order: field === sort && order === "asc" ? "desc" : "asc" }),
      })),
      page,
      pages,
      previousUrl: page > 1 ? urlOf({ page: String(page - 1) }) : undefined,
      nextUrl: page < pages ? urlOf({ page: String(page + 1) }) : undefined,
      archiveUrl:
        folder.id === opened.node.id && !opened.share.hidesLocation ? `${this.#urlOf(opened)}/download` : undefined,
      expiresAtMs: opened.share.expiresAtMs,
    });
    return pageResponse(drawn, 200, PAGE_HEADERS);
  }

  #entry(opened: OpenedShare, node: TreeNode) {
    const { modifiedAtMs } = node;
    if (node.kind === "folder") {
      const url = this.#folderUrl(opened, relativePath(opened, node.path));
      return { name: node.name, url, modifiedAtMs, file: undefined, itemCount: node.itemCount };
    }
    const downloadUrl = `${this.#urlOf(opened)}/download?fileId=${node.publicId}`;
    return {
      name: shownName(opened, node),
      url: `${this.#urlOf(opened)}?fileId=${node.publicId}`,
      modifiedAtMs,
      file: {
        sizeBytes: listedSize(opened, node),
        mediaType: node.mediaType,
        downloadUrl,
        thumbnailUrl: this.#options.hasThumbnail(node) ? `${downloadUrl}&thumbnail=small` : undefined,
      },
      itemCount: 0,
    };
  }

  /** The folder that a file of the shared folder is in. */
  #folderOf(opened: OpenedShare, file: FileNode): PageLink {
    const path = relativePath(opened, file.folder);
    const name = path === ROOT_PATH ? titleOf(opened.node) : path.slice(path.lastIndexOf("/") + 1);
    return { name, url: this.#folderUrl(opened, path) };
  }

  /** The folders above one, from the shared folder on. */
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

  async #signedIn(request: Request): Promise<User | undefined> {
    const session = new Bun.CookieMap(request.headers.get("cookie") ?? "").get(SESSION_COOKIE);
    if (session === null || session === "") return undefined;
    try {
      return (await this.#options.auth.identify(session)).user;
    } catch (error) {
      // A session that is over: nobody is signed in.
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }
}

/**
 * Draws the page for whoever a share does not let in; undefined for errors that are not the share's. Who came too often
 * is shown the form again where it was the password.
 */
export function sharePageRefusal(basePath: string) {
  return (error: unknown, token: string, isUnlocking = false): Response | undefined => {
    if (!(error instanceof AppError)) return undefined;
    const { status, headers } = answerError(error, "");
    const unlockUrl = `${basePath}/s/${token}/unlock`;
    const answer = (page: string) => pageResponse(page, status, { ...headers, ...PAGE_HEADERS });
    switch (error.reason) {
      case "not_found":
        return answer(renderShareNotFoundPage(basePath));
      case "password_required":
        return answer(renderUnlockPage(basePath, unlockUrl));
      case "bad_credentials":
        return answer(renderUnlockPage(basePath, unlockUrl, error.message));
      case "rate_limited":
        return answer(
          isUnlocking
            ? renderUnlockPage(basePath, unlockUrl, error.message)
            : renderShareRefusedPage(basePath, "That was too often", error.message),
        );
      case "share_expired":
        return answer(renderShareRefusedPage(basePath, "The time of this link is over", ASK_FOR_NEW));
      case "share_used_up":
        return answer(renderShareRefusedPage(basePath, "All downloads of this link are taken", ASK_FOR_NEW));
      case "share_permission":
      case "csrf":
        return answer(renderShareRefusedPage(basePath, "That can't be done with this link", error.message));
      default:
        return undefined;
    }
  };
}

const ASK_FOR_NEW = "Whoever sent it to you can make a new one.";

/** What is wrong with a file that was sent is said beside the form. */
function refuseUpload(error: unknown, draw: () => Response): Response | undefined {
  if (!(error instanceof AppError) || OF_SHARE.has(error.reason)) return undefined;
  return draw();
}

const OF_SHARE: ReadonlySet<string> = new Set([
  "not_found",
  "password_required",
  "share_expired",
  "share_used_up",
  "share_permission",
  "csrf",
]);

function isReason(error: unknown, reason: AppError["reason"]): boolean {
  return error instanceof AppError && error.reason === reason;
}

function titleOf(node: TreeNode): string {
  return node.kind === "folder" ? folderTitle(node) : node.name;
}

/**
 * Forms come from our own pages. What browsers say of it: Fetch Metadata, which they leave out without TLS, and Origin,
 * which is `null` because the page sends no referrer. A request that says neither carries no cookie of ours from elsewhere:
 * it is SameSite.
 */
function checkOrigin(request: Request): void {
  const site = request.headers.get("sec-fetch-site");
  const { baseUrl, askedOrigin } = exchangeOf(request);
  const origin = URL.parse(request.headers.get("origin") ?? "")?.origin;
  const ours = [baseUrl, askedOrigin ?? ""].map((url) => URL.parse(url)?.origin);
  const isElsewhere =
    site === null ? origin !== undefined && origin !== "null" && !ours.includes(origin) : site !== "same-origin";
  if (isElsewhere) throw new AppError("csrf", "This form was sent by another site. Open the link, and use its page.");
}
