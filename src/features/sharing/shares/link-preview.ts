/**
 * The previews of links in chat programs and social networks, which fetch the page of a link and its picture. A link gets
 * one only if it is open to everybody who has its address: not with a password, and not for a drop box. All clients get
 * the same page.
 */
import { notFound } from "../../../errors.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import type { FileNode, TreeNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { ShareAccess } from "./share-access.ts";
import type { OpenedShare, SharedAlbum } from "./types.ts";

/** Dependencies of {@link pictureOf}. */
interface PictureOptions {
  readonly shareAccess: Pick<ShareAccess, "file">;
  readonly albums: Pick<AlbumService, "summaries">;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

/** Whether others than people may see what a link is of. */
export function hasPreview({ share }: OpenedShare): boolean {
  return share.passwordHash === null && share.kind !== "upload";
}

/** The file whose thumbnail is the picture of a page: the cover of an album, or the first with a thumbnail. */
export async function pictureOf(
  { shareAccess, albums, hasThumbnail }: PictureOptions,
  opened: OpenedShare,
  shown: readonly TreeNode[],
): Promise<FileNode | undefined> {
  const cover = opened.node.kind === "album" ? await coverOf(albums, opened.node) : undefined;
  const files = [...(cover === undefined ? [] : [shareAccess.file(opened, cover)]), ...shown];
  return files.find((node): node is FileNode => node.kind === "file" && hasThumbnail(node));
}

async function coverOf(albums: PictureOptions["albums"], album: SharedAlbum): Promise<string | undefined> {
  const [summary] = await albums.summaries([album.id], album.accountId);
  return summary?.coverId ?? undefined;
}

/**
 * The file of a request for the picture of a preview.
 * @throws AppError not_found, also for a link without preview
 */
export function previewedFile(
  shareAccess: Pick<ShareAccess, "file">,
  opened: OpenedShare,
  fileId: string | undefined,
): FileNode {
  if (!hasPreview(opened)) throw notFound(say`This picture was not found.`);
  return shareAccess.file(opened, fileId);
}

/**
 * Programs that fetch a link to preview or index it, by their names in User-Agent. Signal calls itself WhatsApp, and the
 * messages of Apple facebookexternalhit and Twitterbot. CUBOT is a brand of phones.
 */
const CRAWLER = /(?<!\bcu)bot\b|crawl|spider|preview|externalhit|facebookcatalog|whatsapp|embedly|slurp|mastodon\//i;

/** Whether a request comes from a program that previews or indexes links. Its visits don't count. */
export function isCrawler(request: Request): boolean {
  return CRAWLER.test(request.headers.get("user-agent") ?? "");
}
