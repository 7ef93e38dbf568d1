/**
 * Writes XMP sidecars (ISO 16684-1): what Larder knows of a photo or a video, for other programs. The properties are
 * those that digiKam, darktable, Lightroom, Immich, and PhotoPrism read; docs/backup.md lists them.
 */
import { escapeXml } from "../../../lib/escape-xml.ts";

/** What Larder knows of a photo or a video, and the file itself does not say. */
export interface PhotoFacts {
  readonly description: string | undefined;
  readonly tags: readonly string[];
  /** ISO 8601 with an offset. */
  readonly capturedAt: string | undefined;
  readonly location: Location | undefined;
  readonly isFavorite: boolean;
  /** Names of the albums that contain it. */
  readonly albums: readonly string[];
}

/** Degrees, WGS 84. */
export interface Location {
  readonly latitude: number;
  readonly longitude: number;
}

/** Ends the name of a sidecar, after the whole name of its photo: `IMG_1.jpg.xmp`. */
export const SIDECAR_SUFFIX = ".xmp";

const NAMESPACES: Readonly<Record<string, string>> = {
  dc: "http://purl.org/dc/elements/1.1/",
  digiKam: "http://www.digikam.org/ns/1.0/",
  exif: "http://ns.adobe.com/exif/1.0/",
  fstop: "http://www.fstopapp.com/xmp/",
  "mwg-coll": "http://www.metadataworkinggroup.com/schemas/collections/",
  photoshop: "http://ns.adobe.com/photoshop/1.0/",
  tiff: "http://ns.adobe.com/tiff/1.0/",
  xmp: "http://ns.adobe.com/xap/1.0/",
};

const DATES = ["exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate"];

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
const HEAD =
  /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<x:xmpmeta xmlns:x="adobe:ns:meta\/" x:xmptk="Larder ([0-9a-f]{64})">\n/;

/**
 * The text of a sidecar; the same facts give the same text. It names the digest of its own properties, by which
 * {@link isUnchangedSidecar} recognizes it.
 */
export function toSidecar(facts: PhotoFacts): string {
  const body = toBody(facts);
  return `${DECLARATION}<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Larder ${digestOf(body)}">\n${body}`;
}

/** A sidecar that says nothing. */
export const EMPTY_SIDECAR = toSidecar({
  description: undefined,
  tags: [],
  capturedAt: undefined,
  location: undefined,
  isFavorite: false,
  albums: [],
});

/**
 * Whether a text is a sidecar as Larder wrote it. Other programs that write a sidecar replace the name of the toolkit, and
 * a person who edits one changes its digest.
 */
export function isUnchangedSidecar(text: string): boolean {
  const [head, digest] = HEAD.exec(text) ?? [];
  return head !== undefined && digest === digestOf(text.slice(head.length));
}

function digestOf(body: string): string {
  return new Bun.CryptoHasher("sha256").update(body).digest("hex");
}

function toBody(facts: PhotoFacts): string {
  const properties = propertiesOf(facts);
  // PhotoPrism reads this mark only as an attribute.
  const mark = facts.isFavorite ? ' fstop:favorite="1"' : "";
  const declared = Object.entries(NAMESPACES).map(([prefix, uri]) => `\n    xmlns:${prefix}="${uri}"`);
  return [
    ' <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
    `  <rdf:Description rdf:about=""${declared.join("")}${mark}>`,
    ...properties.map((property) => `   ${property}`),
    "  </rdf:Description>",
    " </rdf:RDF>",
    "</x:xmpmeta>",
    "",
  ].join("\n");
}

function propertiesOf({ description, tags, capturedAt, location, isFavorite, albums }: PhotoFacts): string[] {
  return [
    // Immich prefers the description in EXIF, which cameras fill with their name, to that of Dublin Core.
    ...(description === undefined
      ? []
      : ["dc:description", "tiff:ImageDescription"].map((name) => text(name, description))),
    ...(tags.length === 0 ? [] : [list("dc:subject", "Bag", tags), list("digiKam:TagsList", "Seq", tags)]),
    ...(capturedAt === undefined ? [] : DATES.map((name) => element(name, escapeXml(capturedAt)))),
    ...(location === undefined ? [] : positionOf(location)),
    ...(isFavorite ? [element("xmp:Rating", "5")] : []),
    ...(albums.length === 0 ? [] : [collections(albums)]),
  ];
}

function element(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}

/** A text in the default language. */
function text(name: string, value: string): string {
  return element(name, `<rdf:Alt><rdf:li xml:lang="x-default">${escapeXml(value)}</rdf:li></rdf:Alt>`);
}

function list(name: string, kind: "Bag" | "Seq", values: readonly string[]): string {
  const items = values.map((value) => element("rdf:li", escapeXml(value))).join("");
  return element(name, element(`rdf:${kind}`, items));
}

/** Albums as collections of the Metadata Working Group. */
function collections(albums: readonly string[]): string {
  const items = albums.map(
    (album) => `<rdf:li rdf:parseType="Resource">${element("mwg-coll:CollectionName", escapeXml(album))}</rdf:li>`,
  );
  return element("mwg-coll:Collections", element("rdf:Bag", items.join("")));
}

function positionOf({ latitude, longitude }: Location): string[] {
  return [
    element("exif:GPSLatitude", toCoordinate(latitude, "N", "S")),
    element("exif:GPSLongitude", toCoordinate(longitude, "E", "W")),
  ];
}

/** Degrees and minutes, to about 2 mm: `48,12.492000N`. */
function toCoordinate(degrees: number, positive: string, negative: string): string {
  const millionths = Math.round(Math.abs(degrees) * 60e6);
  const whole = Math.floor(millionths / 60e6);
  const minutes = ((millionths - whole * 60e6) / 1e6).toFixed(6);
  return `${whole},${minutes}${degrees < 0 ? negative : positive}`;
}
