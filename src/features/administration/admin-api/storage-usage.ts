/** Who uses the storage, and for what kinds of files. From counters of accounts: no file is read, and none is named. */
import { type Reader, rows } from "../../../db/reader.ts";

/** The kinds of files, in the order of the charts. */
export const STORAGE_KINDS = ["photos", "videos", "audio", "documents", "archives", "other"] as const;

/** One of {@link STORAGE_KINDS}. */
type StorageKind = (typeof STORAGE_KINDS)[number];

/** What one account stores, in bytes. */
interface PersonUsage {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly filesBytes: number;
  readonly versionsBytes: number;
  readonly trashBytes: number;
}

/** The files of one kind, without earlier versions and trash. */
interface KindUsage {
  readonly kind: StorageKind;
  readonly files: number;
  readonly bytes: number;
}

/** The storage by person and by kind. */
interface StorageUsage {
  readonly people: readonly PersonUsage[];
  /** All accounts that are not in `people`. */
  readonly others: { readonly accounts: number; readonly bytes: number };
  readonly kinds: readonly KindUsage[];
}

/** People who are listed; the largest come first. */
export const PEOPLE_MAX = 50;

const ARCHIVES = /zip|tar|7z|rar|gzip|bzip2|zstd|compressed|iso9660/;
const DOCUMENTS = /^text\/|pdf|msword|officedocument|opendocument|ms-excel|ms-powerpoint|rtf|epub/;
const USED = "a.file_bytes + a.version_bytes + a.trash_bytes";

/** Reads the usage in the reader thread: scans of the accounts, and of their totals by media type. */
export async function readStorageUsage(reader: Pick<Reader, "read">): Promise<StorageUsage> {
  const [people, totals, types] = await reader.read([
    rows<PersonUsage>(
      `SELECT u.public_id AS id, u.name, u.email, a.file_bytes AS filesBytes, a.version_bytes AS versionsBytes,
         a.trash_bytes AS trashBytes
       FROM accounts a JOIN users u ON u.id = a.id WHERE u.email <> '' ORDER BY ${USED} DESC, u.id LIMIT ?1`,
      [PEOPLE_MAX],
    ),
    rows<{ accounts: number; bytes: number }>(
      `SELECT count(*) AS accounts, coalesce(sum(${USED}), 0) AS bytes
       FROM accounts a JOIN users u ON u.id = a.id WHERE u.email <> ''`,
    ),
    rows<{ type: string; files: number; bytes: number }>(
      "SELECT type, sum(files) AS files, sum(bytes) AS bytes FROM usage_types GROUP BY type",
    ),
  ]);
  const all = totals[0] ?? { accounts: 0, bytes: 0 };
  const listed = people.reduce((sum, one) => sum + one.filesBytes + one.versionsBytes + one.trashBytes, 0);
  return {
    people,
    others: { accounts: Math.max(0, all.accounts - people.length), bytes: Math.max(0, all.bytes - listed) },
    kinds: STORAGE_KINDS.map((kind) => {
      const own = types.filter(({ type }) => kindOf(type) === kind);
      return {
        kind,
        files: own.reduce((sum, { files }) => sum + files, 0),
        bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
      };
    }),
  };
}

function kindOf(mediaType: string): StorageKind {
  if (mediaType.startsWith("image/")) return "photos";
  if (mediaType.startsWith("video/")) return "videos";
  if (mediaType.startsWith("audio/")) return "audio";
  if (DOCUMENTS.test(mediaType)) return "documents";
  return ARCHIVES.test(mediaType) ? "archives" : "other";
}
