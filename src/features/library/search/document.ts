/** Builds the index entry of a file or folder. Pure. */
import { FILE, parseMetadata, parseTags } from "../../../tree/model/rows.ts";
import { cameraFacets, dateFacets, extensionOf, facet, toFamilies, plainType, sizeFacet, tagFacet } from "./facets.ts";
import { toIndexText } from "./words.ts";

/** A node and the metadata of its content, as stored in the database. */
export interface IndexedRow {
  readonly id: number;
  readonly account_id: number;
  readonly parent_id: number | null;
  readonly kind: number;
  readonly name: string;
  readonly original_name: string | null;
  readonly media_type: string | null;
  readonly size_bytes: number;
  readonly created_at: number;
  readonly modified_at: number;
  readonly captured_at: string | null;
  readonly is_public: number;
  readonly tags: string | null;
  readonly metadata: string | null;
  readonly taken_at: string | null;
  readonly camera: string | null;
  readonly title: string | null;
  readonly artist: string | null;
  readonly album: string | null;
}

/** The columns of one entry of the index. */
export interface IndexDocument {
  readonly facets: string;
  readonly name: string;
  readonly tags: string;
  readonly description: string;
  readonly metadata: string;
}

/** Most characters of metadata, and of the description, in an entry. */
const TEXT_MAX = 64 * 1024;
const SPACE = "\n";

/** The entry of a node that is in a tree. */
export function toDocument(row: IndexedRow): IndexDocument {
  const { description = "", ...metadata } = parseMetadata(row.metadata);
  const embedded = [row.title, row.artist, row.album, row.camera].filter((text) => text !== null);
  const tags = parseTags(row.tags);
  return {
    facets: toFacets(row, tags).join(" "),
    name: toIndexText(row.name),
    tags: toIndexText(tags.join(SPACE)),
    description: toIndexText(description.slice(0, TEXT_MAX)),
    metadata: toIndexText([...Object.values(metadata), ...embedded].join(SPACE).slice(0, TEXT_MAX)),
  };
}

function toFacets(row: IndexedRow, tags: readonly string[]): string[] {
  const common = [
    facet("fo", row.parent_id ?? 0),
    ...dateFacets("m", toDay(row.modified_at)),
    ...dateFacets("c", toDay(row.created_at)),
  ];
  if (row.kind !== FILE || row.media_type === null) return [facet("fa", "folder"), ...common];
  const takenAt = row.captured_at ?? row.taken_at;
  const extension = extensionOf(row.name);
  return [
    ...toFamilies(row.media_type).map((family) => facet("fa", family)),
    facet("ty", plainType(row.media_type)),
    sizeFacet(row.size_bytes),
    ...common,
    ...(takenAt === null ? [] : dateFacets("p", takenAt)),
    ...(extension === undefined ? [] : [facet("ex", extension)]),
    ...tags.map(tagFacet),
    ...(row.camera === null ? [] : cameraFacets(row.camera)),
    ...(row.is_public === 1 ? [facet("pu", "")] : []),
  ];
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
