/** Reads and checks the headers of tus 1.0.0 (https://tus.io/protocols/resumable-upload). Pure functions. */
import { AppError, invalidField } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { TusKind } from "./types.ts";

/** The only supported version. */
export const TUS_VERSION = "1.0.0";
/** The supported extensions. */
export const TUS_EXTENSIONS =
  "creation,creation-with-upload,creation-defer-length,expiration,checksum,termination,concatenation";
/** The supported checksums of request bodies. */
export const CHECKSUM_ALGORITHMS = ["sha1", "sha256", "md5"] as const;
/** The media type of the bytes of an upload. */
export const OFFSET_MEDIA_TYPE = "application/offset+octet-stream";
/** Most parts of one file. */
export const PARTS_MAX = 1_000;

/** Expected checksum of a request body. */
export interface RequestChecksum {
  readonly algorithm: (typeof CHECKSUM_ALGORITHMS)[number];
  /** Lower-case hexadecimal. */
  readonly digest: string;
}

/** The value of Upload-Concat. */
export interface Concatenation {
  readonly kind: TusKind;
  /** Public ids. */
  readonly parts: readonly string[];
}

/** @throws AppError precondition_failed if the request has another version, or none */
export function checkVersion(headers: Headers): void {
  const version = headers.get("tus-resumable");
  if (version === TUS_VERSION) return;
  throw new AppError(
    "precondition_failed",
    say`This server supports tus ${TUS_VERSION}. Send Tus-Resumable: ${TUS_VERSION}.`,
    {
      field: "Tus-Resumable",
      supported: TUS_VERSION,
    },
  );
}

/** @throws AppError unsupported_media_type */
export function checkMediaType(headers: Headers): void {
  const type = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (type === OFFSET_MEDIA_TYPE) return;
  throw new AppError("unsupported_media_type", say`The Content-Type of upload data must be ${OFFSET_MEDIA_TYPE}.`);
}

/** A number of bytes; undefined without the header. @throws AppError invalid_field */
export function readBytes(headers: Headers, name: "Upload-Length" | "Upload-Offset"): number | undefined {
  const text = headers.get(name);
  if (text === null) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw invalidField(name, say`${name} must be a whole number of bytes with at most 15 digits.`);
  return Number(text);
}

/** Whether the length will be sent later. @throws AppError invalid_field */
export function readDeferral(headers: Headers): boolean {
  const text = headers.get("upload-defer-length");
  if (text === null) return false;
  if (text === "1") return true;
  throw invalidField(
    "Upload-Defer-Length",
    say`Upload-Defer-Length must be 1. Leave it out if you send Upload-Length.`,
  );
}

/** @throws AppError invalid_field */
export function readChecksum(headers: Headers): RequestChecksum | undefined {
  const text = headers.get("upload-checksum");
  if (text === null) return undefined;
  const [name = "", base64 = "", ...rest] = text.trim().split(" ");
  const algorithm = CHECKSUM_ALGORITHMS.find((known) => known === name.toLowerCase());
  if (algorithm === undefined || rest.length > 0) {
    throw invalidField(
      "Upload-Checksum",
      say`Upload-Checksum must be one of ${CHECKSUM_ALGORITHMS.join(", ")}, followed by a space and the digest in base64.`,
      { allowed: CHECKSUM_ALGORITHMS },
    );
  }
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length !== digestBytes(algorithm) || bytes.toString("base64") !== base64) {
    throw invalidField(
      "Upload-Checksum",
      say`The digest after ${algorithm} in Upload-Checksum is not valid base64 or has the wrong length.`,
    );
  }
  return { algorithm, digest: bytes.toString("hex") };
}

/** @throws AppError invalid_field */
export function readConcatenation(headers: Headers): Concatenation {
  const text = headers.get("upload-concat")?.trim();
  if (text === undefined) return { kind: "whole", parts: [] };
  if (text === "partial") return { kind: "partial", parts: [] };
  const list = /^final;(.*)$/s.exec(text)?.[1]?.trim();
  if (list === undefined || list === "") {
    throw invalidField(
      "Upload-Concat",
      say`Upload-Concat must be "partial", or "final;" followed by the URLs of the parts.`,
    );
  }
  const parts = list.split(/\s+/).map(idOfAddress);
  if (parts.length > PARTS_MAX) {
    throw invalidField("Upload-Concat", say`An upload can have at most ${PARTS_MAX} parts, but has ${parts.length}.`);
  }
  if (new Set(parts).size < parts.length) {
    throw invalidField("Upload-Concat", say`Upload-Concat lists the same part twice. List each part once.`);
  }
  return { kind: "final", parts };
}

/** The intended method. X-HTTP-Method-Override is for clients that can send only GET and POST. */
export function overriddenMethod(headers: Headers): string | undefined {
  return headers.get("x-http-method-override")?.trim().toUpperCase();
}

function digestBytes(algorithm: RequestChecksum["algorithm"]): number {
  return { sha1: 20, sha256: 32, md5: 16 }[algorithm];
}

/** The upload in an address, which may be absolute or a path: its last segment. */
function idOfAddress(address: string): string {
  const id = /([\w-]{1,64})\/?$/.exec(address.split(/[?#]/, 1)[0] ?? "")?.[1];
  if (id === undefined)
    throw invalidField(
      "Upload-Concat",
      say`Upload-Concat contains a URL that is not an upload. Check the URLs of the parts.`,
    );
  return id;
}
