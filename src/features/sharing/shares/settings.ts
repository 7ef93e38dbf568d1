/** Checks the settings of a share, field by field. */
import { isInstant } from "../../../lib/instant.ts";
import { parseDuration } from "../../../config/quantities.ts";
import { AppError, invalidField } from "../../../errors.ts";
import { type Message, say } from "../../../translations/say.ts";
import { emailKey, parseEmail } from "../../accounts/users/email.ts";
import {
  type NewShare,
  type Share,
  type SharePermissions,
  type ShareRequest,
  type ShareSettings,
  UPLOADS_OF_DROP_BOX,
  type SharedItem,
} from "./types.ts";

const LABEL_CHARACTERS_MAX = 200;
/** People read passwords of links aloud, so shorter ones than for accounts are allowed. Guesses are limited. */
const PASSWORD_CHARACTERS_MIN = 4;
const PASSWORD_CHARACTERS_MAX = 256;
const DOWNLOADS_MAX = 1_000_000_000;
const UPLOAD_BYTES_MAX = 2 ** 50;
/** The last instant with a year of four digits. */
const LAST_INSTANT_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Checked settings of a new share; the password is still in plain text. */
export interface CheckedRequest extends Omit<NewShare, "passwordHash"> {
  readonly password: string | null;
}

/**
 * The settings of a new share.
 * @param of what is shared
 * @param isForOthers whether it is for people or groups that `requested` does not name
 * @throws AppError invalid_field
 */
export function checkNewShare(
  requested: ShareRequest,
  of: SharedItem["kind"],
  nowMs: number,
  isForOthers = false,
): CheckedRequest {
  const permissions = requested.permissions ?? "read";
  const recipient = requested.user ?? undefined;
  const kind = checkKind(permissions, isForOthers || recipient !== undefined, of);
  checkFit(requested, kind, of);
  return {
    kind,
    label: checkLabel(requested.label),
    expiresAtMs: checkExpiry(requested, nowMs) ?? null,
    password: checkPassword(requested.password),
    maxDownloads: checkCount(requested.maxDownloads, "maxDownloads", DOWNLOADS_MAX),
    isPinned: requested.pinned ?? false,
    hidesLocation: requested.hideLocation ?? false,
    maxUploadBytes: checkCount(requested.maxUploadBytes, "maxUploadBytes", UPLOAD_BYTES_MAX),
    maxUploadsPerAddress: checkUploadsPerAddress(requested),
    canWrite: permissions === "write",
    showsVersions: requested.versions ?? null,
    recipientEmailKey: recipient === undefined ? null : emailKey(parseEmail(recipient, "user")),
  };
}

/** Checked changes of a share: absent fields stay, null removes. */
export interface CheckedChanges {
  readonly share: Share;
  /** In plain text; null removes it, undefined leaves it. */
  readonly password: string | null | undefined;
  /** Undefined leaves it. */
  readonly isPinned: boolean | undefined;
}

/** @throws AppError invalid_field; invalid_request for a change without fields */
export function checkChanges(
  share: Share,
  requested: ShareSettings,
  of: SharedItem["kind"],
  nowMs: number,
): CheckedChanges {
  const given = Object.entries(requested).filter(([, value]) => value !== undefined);
  if (given.length === 0) {
    throw new AppError(
      "invalid_request",
      say`The request contains no changes. Send at least one field; null clears a field.`,
    );
  }
  if (share.kind === "public") checkPublic(given.map(([field]) => field));
  if (requested.permissions !== undefined) checkSamePermissions(share, requested.permissions ?? "read");
  checkFit(requested, share.kind, of);
  const expiresAtMs = checkExpiry(requested, nowMs);
  return {
    share: {
      ...share,
      label: requested.label === undefined ? share.label : checkLabel(requested.label),
      expiresAtMs: expiresAtMs === undefined ? share.expiresAtMs : expiresAtMs,
      maxDownloads:
        requested.maxDownloads === undefined
          ? share.maxDownloads
          : checkCount(requested.maxDownloads, "maxDownloads", DOWNLOADS_MAX),
      maxUploadBytes:
        requested.maxUploadBytes === undefined
          ? share.maxUploadBytes
          : checkCount(requested.maxUploadBytes, "maxUploadBytes", UPLOAD_BYTES_MAX),
      maxUploadsPerAddress:
        requested.maxUploadsPerAddress === undefined ? share.maxUploadsPerAddress : checkUploadsPerAddress(requested),
      hidesLocation: requested.hideLocation === undefined ? share.hidesLocation : (requested.hideLocation ?? false),
      canWrite: requested.permissions === undefined ? share.canWrite : requested.permissions === "write",
      showsVersions: requested.versions === undefined ? share.showsVersions : requested.versions,
    },
    password: requested.password === undefined ? undefined : checkPassword(requested.password),
    isPinned: requested.pinned === undefined ? undefined : (requested.pinned ?? false),
  };
}

/** The permissions that a share gives. */
export function permissionsOf(share: Pick<Share, "kind" | "canWrite">): SharePermissions {
  if (share.kind === "upload") return "upload";
  return share.canWrite ? "write" : "read";
}

function checkKind(permissions: SharePermissions, hasRecipient: boolean, of: SharedItem["kind"]): NewShare["kind"] {
  if (permissions === "upload") {
    if (hasRecipient) throw invalidField("permissions", say`A drop box can't be limited to one user. Leave out user.`);
    if (of !== "folder")
      throw invalidField("permissions", say`Only a folder can be a drop box. Share a folder instead.`);
    return "upload";
  }
  if (permissions === "write" && of === "album") throw invalidField("permissions", ALBUM_IS_READ_ONLY);
  if (permissions === "write" && !hasRecipient) {
    throw invalidField("permissions", say`A public link can't allow changes. To allow changes, share with a user.`);
  }
  return hasRecipient ? "account" : "link";
}

const ALBUM_IS_READ_ONLY = say`Others can only view an album. To allow changes, share a folder.`;

/** Rejects settings that do not fit the kind of share. */
function checkFit(requested: ShareSettings, kind: Share["kind"], of: SharedItem["kind"]): void {
  const rejectField = (field: keyof ShareSettings, why: Message): void => {
    const value = requested[field];
    if (value !== undefined && value !== null && value !== false) throw invalidField(field, why);
  };
  if (kind === "account") {
    const why = say`This setting is only for public links. Leave it out for a share with a user.`;
    for (const field of ["password", "maxDownloads", "hideLocation"] as const) rejectField(field, why);
  }
  if (kind !== "account") {
    rejectField("versions", say`A public link can't show earlier versions. Share with a user, or leave this out.`);
  }
  if (kind === "upload") {
    const why = say`This setting is only for downloads, which a drop box does not allow. Leave it out.`;
    for (const field of ["maxDownloads", "hideLocation"] as const) rejectField(field, why);
  } else {
    const why = say`This setting is only for drop boxes. Set permissions to upload, or leave it out.`;
    for (const field of ["maxUploadBytes", "maxUploadsPerAddress"] as const) rejectField(field, why);
  }
  if (of === "album") {
    rejectField("versions", say`A share of an album can't show earlier versions. Leave this out.`);
    if (requested.permissions === "write") throw invalidField("permissions", ALBUM_IS_READ_ONLY);
  }
  if (of !== "file" || kind === "account") {
    rejectField("pinned", say`Only a public link to a file can be pinned to the current version.`);
  }
}

function checkPublic(fields: readonly string[]): void {
  const other = fields.find((field) => field !== "label");
  if (other === undefined) return;
  throw invalidField(
    other,
    say`You can change only the label of a public file's link. For other settings, create a separate link.`,
  );
}

function checkSamePermissions(share: Share, newPermissions: SharePermissions): void {
  if (newPermissions === permissionsOf(share) || (share.kind === "account" && newPermissions !== "upload")) return;
  throw invalidField("permissions", say`You can't change the permissions of a link. Delete it and create a new one.`);
}

/** Undefined if neither field is set. */
function checkExpiry(requested: ShareSettings, nowMs: number): number | null | undefined {
  const { expiresAt, expiresIn } = requested;
  if (typeof expiresAt === "string" && typeof expiresIn === "string") {
    throw invalidField("expiresIn", say`Send either expiresAt or expiresIn, not both.`);
  }
  if (typeof expiresIn === "string") {
    const ms = parseDuration(expiresIn);
    if (ms === undefined || ms <= 0 || nowMs + ms > LAST_INSTANT_MS) {
      throw invalidField("expiresIn", say`expiresIn must be a duration, such as "12h" or "7d".`);
    }
    return nowMs + ms;
  }
  if (typeof expiresAt === "string") {
    const ms = isCalendarInstant(expiresAt) ? Date.parse(expiresAt) : Number.NaN;
    if (Number.isNaN(ms) || ms > LAST_INSTANT_MS) {
      throw invalidField("expiresAt", say`expiresAt must be an ISO 8601 time, such as 2026-12-31T23:59:59Z.`);
    }
    if (ms <= nowMs) throw invalidField("expiresAt", say`expiresAt is in the past. Choose a future time.`);
    return ms;
  }
  return expiresAt === null || expiresIn === null ? null : undefined;
}

/** Whether a text is an instant on an existing day: `Date.parse` reads 30 February as 2 March. */
function isCalendarInstant(text: string): boolean {
  const day = text.slice(0, 10);
  return isInstant(text) && new Date(Date.parse(`${day}T00:00:00Z`) || 0).toISOString().startsWith(day);
}

function checkLabel(label: string | null | undefined): string | null {
  const text = label?.trim().normalize("NFC") ?? "";
  if (text === "") return null;
  if (text.length > LABEL_CHARACTERS_MAX || !text.isWellFormed() || /\p{Cc}/u.test(text)) {
    throw invalidField(
      "label",
      say`A label can have at most ${LABEL_CHARACTERS_MAX} characters, and no control characters.`,
    );
  }
  return text;
}

function checkPassword(password: string | null | undefined): string | null {
  if (password === undefined || password === null) return null;
  const { length } = [...password.slice(0, PASSWORD_CHARACTERS_MAX * 8).normalize("NFC")];
  if (length < PASSWORD_CHARACTERS_MIN || length > PASSWORD_CHARACTERS_MAX) {
    throw invalidField(
      "password",
      say`The password of a link must have ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters.`,
    );
  }
  return password;
}

function checkUploadsPerAddress({ maxUploadsPerAddress }: ShareSettings): number | null {
  if ((maxUploadsPerAddress ?? 0) > UPLOADS_OF_DROP_BOX) {
    throw invalidField("maxUploadsPerAddress", say`maxUploadsPerAddress must be 1 to ${UPLOADS_OF_DROP_BOX}.`);
  }
  return checkCount(maxUploadsPerAddress, "maxUploadsPerAddress", UPLOADS_OF_DROP_BOX);
}

function checkCount(value: number | null | undefined, field: string, max: number): number | null {
  if (value === undefined || value === null) return null;
  if (!Number.isSafeInteger(value) || value < 1 || value > max) {
    throw invalidField(field, say`${field} must be a whole number of at least 1.`);
  }
  return value;
}
