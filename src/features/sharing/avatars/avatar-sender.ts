import type { ResponseHeaders } from "../../accounts/routing/declaration.ts";
import { sendBlob } from "../../../http/send-blob.ts";
import type { Avatar, AvatarSize } from "./service.ts";

/** Options of {@link sendAvatar}. */
interface AvatarResponseOptions {
  readonly request: Request;
  readonly avatar: Avatar;
  readonly size: AvatarSize;
  /** The address names the version, so that its content never changes. */
  readonly isImmutable: boolean;
  /** For responses about a share. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
  readonly commonHeaders: ResponseHeaders;
}

/** The response with a picture of a person, which no shared cache may store. */
export function sendAvatar(options: AvatarResponseOptions): Response {
  const { request, avatar, size, isImmutable, commonHeaders, extraHeaders } = options;
  const { version, changedAtMs } = avatar;
  const bytes = Uint8Array.from(avatar.bytes);
  return sendBlob({
    request,
    blob: {
      sizeBytes: bytes.length,
      path: () => {
        throw new Error("a picture of a person is no file");
      },
      read: () => bytes,
      readRange: (offset, lengthBytes) => bytes.subarray(offset, offset + lengthBytes),
    },
    etag: `"${version}-${size}"`,
    lastModifiedMs: changedAtMs,
    mediaType: "image/webp",
    fileName: "picture.webp",
    inline: true,
    cacheControl: isImmutable ? "private, max-age=31536000, immutable" : "private, no-cache",
    commonHeaders,
    ...(extraHeaders !== undefined && { extraHeaders }),
  }).response;
}
