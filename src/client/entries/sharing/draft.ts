/** The state of the share form, and the request that it makes. */
import type { ShareRecord } from "../../api/types.ts";
import type { Chip } from "../../ui/chip-field.tsx";
import type { ShareBody, ShareTarget } from "./api.ts";
import { text } from "./text.ts";

/** The kinds of shares that can be created. */
type DraftKind = "link" | "upload" | "account";

/** The choice of the expiry; `unchanged` leaves the expiry of the share as it is. */
export type DraftExpiry = "never" | "1" | "7" | "30" | "date" | "unchanged";

/** The state of the form. Numbers are as typed. */
export interface ShareDraft {
  readonly kind: DraftKind;
  /** The people and groups of a new share, */
  readonly recipients: readonly Chip[];
  /** and the text after them, which may be an email address. */
  readonly typed: string;
  readonly canWrite: boolean;
  /** For shares with an account: whether earlier versions are visible. */
  readonly showsVersions: boolean;
  readonly label: string;
  readonly expiry: DraftExpiry;
  /** In the format of `datetime-local`, in the person's own time zone. */
  readonly date: string;
  readonly hasPassword: boolean;
  readonly password: string;
  readonly limitsDownloads: boolean;
  readonly downloads: string;
  readonly hidesLocation: boolean;
  readonly isPinned: boolean;
  readonly limitsUploads: boolean;
  readonly uploadMegabytes: string;
  readonly uploadsPerAddress: string;
}

/** Fields that are validated before the request. */
type DraftField = "recipients" | "date" | "password" | "downloads" | "uploadMegabytes" | "uploadsPerAddress";

/** The problems by field. */
export type DraftProblems = Partial<Record<DraftField, string>>;

const MEGABYTE = 1024 * 1024;
/** The server's default and maximum of unfinished uploads per address. */
const UPLOADS_PER_ADDRESS = 20;
const UPLOADS_MAX = 200;

/** The form at the start. */
export const EMPTY_DRAFT: ShareDraft = {
  kind: "link",
  recipients: [],
  typed: "",
  canWrite: false,
  showsVersions: false,
  label: "",
  expiry: "never",
  date: "",
  hasPassword: false,
  password: "",
  limitsDownloads: false,
  downloads: "",
  hidesLocation: false,
  isPinned: false,
  limitsUploads: false,
  uploadMegabytes: "",
  uploadsPerAddress: String(UPLOADS_PER_ADDRESS),
};

/** The form for an existing share. */
export function toDraft(share: ShareRecord): ShareDraft {
  return {
    kind: share.kind === "upload" || share.kind === "account" ? share.kind : "link",
    recipients: [],
    typed: "",
    canWrite: share.permissions === "write",
    showsVersions: share.versions === true,
    label: share.label ?? "",
    expiry: share.expiresAt === null ? "never" : "unchanged",
    date: "",
    hasPassword: share.hasPassword,
    password: "",
    limitsDownloads: share.maxDownloads !== null,
    downloads: share.maxDownloads === null ? "" : String(share.maxDownloads),
    hidesLocation: share.hideLocation,
    isPinned: share.pinned,
    limitsUploads: share.maxUploadBytes !== null,
    uploadMegabytes: share.maxUploadBytes === null ? "" : String(share.maxUploadBytes / MEGABYTE),
    uploadsPerAddress: String(share.maxUploadsPerAddress ?? UPLOADS_PER_ADDRESS),
  };
}

/**
 * The problems of the form; empty if it can be submitted.
 * @param former the share that is changed
 */
export function findProblems(draft: ShareDraft, former?: ShareRecord): DraftProblems {
  const isLink = draft.kind !== "account";
  const isPasswordUnchanged = former?.hasPassword === true && draft.password === "";
  return {
    ...(draft.kind === "account" &&
      former === undefined &&
      !hasRecipients(draft) && { recipients: text.peopleMissing }),
    ...(draft.expiry === "date" && !isFuture(draft.date) && { date: text.expiryMissing }),
    ...(isLink &&
      draft.hasPassword &&
      !isPasswordUnchanged &&
      [...draft.password].length < 4 && { password: text.passwordMissing }),
    ...(draft.kind === "link" &&
      draft.limitsDownloads &&
      !/^[1-9]\d{0,8}$/.test(draft.downloads.trim()) && { downloads: text.downloadsMissing }),
    ...(draft.kind === "upload" &&
      draft.limitsUploads &&
      !isByteLimit(toBytes(draft)) && { uploadMegabytes: text.uploadsMissing }),
    ...(draft.kind === "upload" &&
      !isUploadCount(draft.uploadsPerAddress) && { uploadsPerAddress: text.perAddressMissing }),
  };
}

/**
 * The request body of a form without problems.
 * @param former the share that is changed
 */
export function toShareBody(draft: ShareDraft, type: ShareTarget["type"], former?: ShareRecord): ShareBody {
  const label = draft.label.trim();
  return {
    ...(former === undefined && draft.kind === "account" && toRecipients(draft)),
    ...(draft.kind === "upload" && former === undefined && { permissions: "upload" as const }),
    ...(draft.kind === "account" &&
      type !== "album" && {
        permissions: draft.canWrite ? ("write" as const) : ("read" as const),
        versions: draft.showsVersions,
      }),
    ...((label !== "" || former !== undefined) && { label: label === "" ? null : label }),
    ...toExpiry(draft, former),
    ...(draft.kind !== "account" && toPassword(draft, former)),
    ...(draft.kind === "link" && {
      maxDownloads: draft.limitsDownloads ? Number(draft.downloads) : null,
      hideLocation: draft.hidesLocation,
      // Sent again for a link that is pinned already, it would pin the current version.
      ...(type === "file" && draft.isPinned !== former?.pinned && { pinned: draft.isPinned }),
    }),
    ...(draft.kind === "upload" && {
      maxUploadBytes: draft.limitsUploads ? toBytes(draft) : null,
      maxUploadsPerAddress: Number(draft.uploadsPerAddress),
    }),
  };
}

/** The email addresses of a text that contains nothing else. */
export function readEmails(typed: string): Chip[] {
  // Programs copy addresses as `Ada King <ada@example.org>, bea@example.org`.
  const parts = typed.split(/[,;\n]+|>\s+/u).flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));
  const words = parts.flatMap((part) => /<([^<>]+)>?$/u.exec(part)?.[1] ?? part.split(/\s+/u));
  if (!words.every((word) => EMAIL.test(word))) return [];
  return [...new Set(words)].map((email) => ({ id: email.toLowerCase(), name: email, kind: "email" }));
}

const EMAIL = /^[^\s@<>,;]+@[^\s@<>,;]+\.[^\s@<>,;]+$/u;

/** Whether all that was typed is somebody. */
function hasRecipients({ recipients, typed }: ShareDraft): boolean {
  return typed.trim() === "" ? recipients.length > 0 : readEmails(typed).length > 0;
}

function toRecipients({ recipients, typed }: ShareDraft): Pick<ShareBody, "users" | "groups"> {
  const all = [...recipients, ...readEmails(typed)];
  return {
    users: all.flatMap(({ kind, id, name }) => (kind === "group" ? [] : kind === "email" ? [name] : [id])),
    groups: all.flatMap(({ kind, id }) => (kind === "group" ? [id] : [])),
  };
}

function toExpiry({ expiry, date }: ShareDraft, former: ShareRecord | undefined): ShareBody {
  if (expiry === "unchanged") return {};
  if (expiry === "never") return former === undefined ? {} : { expiresAt: null };
  return expiry === "date" ? { expiresAt: new Date(date).toISOString() } : { expiresIn: `${expiry}d` };
}

function toPassword({ hasPassword, password }: ShareDraft, former: ShareRecord | undefined): ShareBody {
  if (hasPassword) return password === "" ? {} : { password };
  return former?.hasPassword === true ? { password: null } : {};
}

function toBytes({ uploadMegabytes }: ShareDraft): number {
  return Math.round(Number(uploadMegabytes) * MEGABYTE);
}

function isUploadCount(typed: string): boolean {
  return /^[1-9]\d{0,2}$/.test(typed.trim()) && Number(typed) <= UPLOADS_MAX;
}

/** JSON has no infinity: the server would read it as no limit. */
function isByteLimit(bytes: number): boolean {
  return Number.isSafeInteger(bytes) && bytes > 0;
}

function isFuture(date: string): boolean {
  return date !== "" && new Date(date).getTime() > Date.now();
}
