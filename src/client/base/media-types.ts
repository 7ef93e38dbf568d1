/** The media types that people meet: what each is called, and which family it belongs to. */
import { defineText } from "./text.ts";

/** Types that share an icon. */
export type MediaFamily =
  | "image"
  | "video"
  | "audio"
  | "document"
  | "spreadsheet"
  | "presentation"
  | "book"
  | "archive"
  | "disk"
  | "code"
  | "data"
  | "text"
  | "font"
  | "model"
  | "mail"
  | "calendar"
  | "contact"
  | "key"
  | "program"
  | "unknown";

const OFFICE = "application/vnd.openxmlformats-officedocument";
const OPEN_DOCUMENT = "application/vnd.oasis.opendocument";

/** The family and the name of each type. Types that are missing are described by {@link describeMediaType}. */
const TYPES: Readonly<Record<string, readonly [MediaFamily, string]>> = {
  "image/jpeg": ["image", "JPEG image"],
  "image/png": ["image", "PNG image"],
  "image/gif": ["image", "GIF image"],
  "image/webp": ["image", "WebP image"],
  "image/avif": ["image", "AVIF image"],
  "image/heic": ["image", "HEIC image"],
  "image/heif": ["image", "HEIF image"],
  "image/tiff": ["image", "TIFF image"],
  "image/bmp": ["image", "Bitmap image"],
  "image/svg+xml": ["image", "SVG image"],
  "image/x-icon": ["image", "Icon"],
  "image/vnd.microsoft.icon": ["image", "Icon"],
  "image/vnd.adobe.photoshop": ["image", "Photoshop image"],
  "image/jxl": ["image", "JPEG XL image"],
  "image/x-adobe-dng": ["image", "Raw photo"],
  "image/x-canon-cr2": ["image", "Raw photo"],
  "image/x-canon-cr3": ["image", "Raw photo"],
  "image/x-nikon-nef": ["image", "Raw photo"],
  "image/x-sony-arw": ["image", "Raw photo"],
  "image/x-fujifilm-raf": ["image", "Raw photo"],
  "image/x-olympus-orf": ["image", "Raw photo"],
  "image/x-panasonic-rw2": ["image", "Raw photo"],
  "video/mp4": ["video", "MP4 video"],
  "video/quicktime": ["video", "QuickTime video"],
  "video/webm": ["video", "WebM video"],
  "video/x-matroska": ["video", "Matroska video"],
  "video/matroska": ["video", "Matroska video"],
  "video/x-msvideo": ["video", "AVI video"],
  "video/vnd.avi": ["video", "AVI video"],
  "video/mpeg": ["video", "MPEG video"],
  "video/mp2t": ["video", "MPEG video"],
  "video/3gpp": ["video", "3GP video"],
  "audio/mpeg": ["audio", "MP3 audio"],
  "audio/mp4": ["audio", "MPEG-4 audio"],
  "audio/aac": ["audio", "AAC audio"],
  "audio/flac": ["audio", "FLAC audio"],
  "audio/x-flac": ["audio", "FLAC audio"],
  "audio/wav": ["audio", "WAV audio"],
  "audio/ogg": ["audio", "Ogg audio"],
  "audio/opus": ["audio", "Opus audio"],
  "audio/midi": ["audio", "MIDI music"],
  "application/ogg": ["audio", "Ogg audio"],
  "application/pdf": ["document", "PDF document"],
  "application/msword": ["document", "Word document"],
  [`${OFFICE}.wordprocessingml.document`]: ["document", "Word document"],
  [`${OFFICE}.wordprocessingml.template`]: ["document", "Word template"],
  "application/vnd.ms-word.document.macroenabled.12": ["document", "Word document"],
  [`${OPEN_DOCUMENT}.text`]: ["document", "OpenDocument text"],
  "application/rtf": ["document", "Rich text document"],
  "text/rtf": ["document", "Rich text document"],
  "application/vnd.apple.pages": ["document", "Pages document"],
  "application/postscript": ["document", "PostScript document"],
  "application/vnd.visio": ["document", "Visio drawing"],
  [`${OPEN_DOCUMENT}.graphics`]: ["document", "OpenDocument drawing"],
  "application/vnd.ms-excel": ["spreadsheet", "Excel spreadsheet"],
  [`${OFFICE}.spreadsheetml.sheet`]: ["spreadsheet", "Excel spreadsheet"],
  "application/vnd.ms-excel.sheet.macroenabled.12": ["spreadsheet", "Excel spreadsheet"],
  [`${OPEN_DOCUMENT}.spreadsheet`]: ["spreadsheet", "OpenDocument spreadsheet"],
  "application/vnd.apple.numbers": ["spreadsheet", "Numbers spreadsheet"],
  "text/csv": ["spreadsheet", "CSV table"],
  "text/tab-separated-values": ["spreadsheet", "TSV table"],
  "application/vnd.ms-powerpoint": ["presentation", "PowerPoint presentation"],
  [`${OFFICE}.presentationml.presentation`]: ["presentation", "PowerPoint presentation"],
  [`${OFFICE}.presentationml.slideshow`]: ["presentation", "PowerPoint slide show"],
  [`${OPEN_DOCUMENT}.presentation`]: ["presentation", "OpenDocument presentation"],
  "application/vnd.apple.keynote": ["presentation", "Keynote presentation"],
  "application/epub+zip": ["book", "EPUB book"],
  "application/x-mobipocket-ebook": ["book", "Mobipocket book"],
  "application/vnd.amazon.ebook": ["book", "Kindle book"],
  "application/vnd.comicbook+zip": ["book", "Comic book"],
  "application/vnd.comicbook-rar": ["book", "Comic book"],
  "application/x-cbr": ["book", "Comic book"],
  "image/vnd.djvu": ["book", "DjVu document"],
  "application/zip": ["archive", "ZIP archive"],
  "application/x-zip-compressed": ["archive", "ZIP archive"],
  "application/x-7z-compressed": ["archive", "7-Zip archive"],
  "application/x-rar-compressed": ["archive", "RAR archive"],
  "application/vnd.rar": ["archive", "RAR archive"],
  "application/x-tar": ["archive", "TAR archive"],
  "application/gzip": ["archive", "GZIP archive"],
  "application/x-gzip": ["archive", "GZIP archive"],
  "application/x-bzip2": ["archive", "BZIP2 archive"],
  "application/x-xz": ["archive", "XZ archive"],
  "application/zstd": ["archive", "Zstandard archive"],
  "application/x-iso9660-image": ["disk", "Disk image"],
  "application/x-apple-diskimage": ["disk", "Disk image"],
  "text/html": ["code", "HTML page"],
  "application/xhtml+xml": ["code", "HTML page"],
  "text/css": ["code", "CSS style sheet"],
  "text/javascript": ["code", "JavaScript code"],
  "application/javascript": ["code", "JavaScript code"],
  "application/typescript": ["code", "TypeScript code"],
  "text/x-python": ["code", "Python code"],
  "text/x-java-source": ["code", "Java code"],
  "text/x-c": ["code", "C code"],
  "application/x-sh": ["code", "Shell script"],
  "application/x-httpd-php": ["code", "PHP code"],
  "application/json": ["data", "JSON data"],
  "application/xml": ["data", "XML data"],
  "text/xml": ["data", "XML data"],
  "text/yaml": ["data", "YAML data"],
  "application/yaml": ["data", "YAML data"],
  "application/toml": ["data", "TOML data"],
  "application/sql": ["data", "SQL script"],
  "application/x-sqlite3": ["data", "SQLite database"],
  "application/vnd.sqlite3": ["data", "SQLite database"],
  "application/gpx+xml": ["data", "GPX track"],
  "application/geo+json": ["data", "GeoJSON map"],
  "application/vnd.google-earth.kml+xml": ["data", "KML map"],
  "application/vnd.google-earth.kmz": ["data", "KMZ map"],
  "text/plain": ["text", "Text file"],
  "text/markdown": ["text", "Markdown document"],
  "text/vtt": ["text", "Subtitles"],
  "application/x-subrip": ["text", "Subtitles"],
  "text/x-log": ["text", "Log file"],
  "font/ttf": ["font", "TrueType font"],
  "font/otf": ["font", "OpenType font"],
  "font/woff": ["font", "Web font"],
  "font/woff2": ["font", "Web font"],
  "model/stl": ["model", "STL model"],
  "model/3mf": ["model", "3MF model"],
  "message/rfc822": ["mail", "Email"],
  "application/mbox": ["mail", "Mailbox"],
  "application/vnd.ms-outlook": ["mail", "Outlook message"],
  "text/calendar": ["calendar", "Calendar"],
  "text/vcard": ["contact", "Contact"],
  "application/pgp-keys": ["key", "PGP key"],
  "application/pgp-signature": ["key", "PGP signature"],
  "application/x-x509-ca-cert": ["key", "Certificate"],
  "application/x-pem-file": ["key", "Certificate"],
  "application/java-archive": ["program", "Java program"],
  "application/vnd.android.package-archive": ["program", "Android app"],
  "application/x-msdownload": ["program", "Windows program"],
  "application/x-msdos-program": ["program", "Windows program"],
  "application/vnd.microsoft.portable-executable": ["program", "Windows program"],
  "application/x-msi": ["program", "Windows installer"],
  "application/x-elf": ["program", "Linux program"],
  "application/x-executable": ["program", "Linux program"],
  "application/vnd.debian.binary-package": ["program", "Debian package"],
};

/** What the part before the slash says about types that are not in the table. */
const BY_MAIN_TYPE: Readonly<Record<string, MediaFamily>> = {
  image: "image",
  video: "video",
  audio: "audio",
  text: "text",
  font: "font",
  model: "model",
  message: "mail",
};

const text = defineText("media-types", {
  names: Object.fromEntries(Object.entries(TYPES).map(([type, [, name]]) => [type, name])),
});

const general = defineText("media-types-general", {
  folder: "Folder",
  file: "File",
  image: "{kind} image",
  video: "{kind} video",
  audio: "{kind} audio",
  font: "{kind} font",
  model: "{kind} model",
  other: "{kind} file",
});

/** The family of a media type. */
export function mediaFamily(mimeType: string): MediaFamily {
  const known = TYPES[mimeType];
  if (known !== undefined) return known[0];
  if (/[+/]json$|[+/]xml$/.test(mimeType)) return "data";
  if (mimeType.startsWith("text/x-")) return "code";
  return BY_MAIN_TYPE[mimeType.slice(0, mimeType.indexOf("/"))] ?? "unknown";
}

/**
 * What people call a media type: `JPEG image`, `Word document`. A type that is not in the table is described by the
 * extension of the file's name: `XYZ file`.
 */
export function describeMediaType(mimeType: string, fileName = ""): string {
  if (TYPES[mimeType] !== undefined) return text.names(mimeType);
  const main = mimeType.slice(0, mimeType.indexOf("/"));
  const kind = (/\.([\p{L}\p{N}]{1,10})$/u.exec(fileName)?.[1] ?? "").toUpperCase();
  if (kind === "") return main === "text" ? text.names("text/plain") : general.file;
  if (main === "image" || main === "video" || main === "audio" || main === "font" || main === "model") {
    return general[main]({ kind });
  }
  return general.other({ kind });
}

/** What people call the kind of an entry. */
export function describeKind(
  entry: { readonly type: "folder" } | { readonly type: "file"; readonly mimeType: string; readonly name: string },
): string {
  return entry.type === "folder" ? general.folder : describeMediaType(entry.mimeType, entry.name);
}
