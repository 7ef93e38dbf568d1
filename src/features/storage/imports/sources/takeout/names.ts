/**
 * The names of files in the photo folders of a Takeout archive. A photo has a description file next to it. Its name is
 * that of the photo with `.supplemental-metadata.json` behind it, or just `.json` in older archives. Before `.json`, it
 * is cut to 46 characters, wherever that is. A number for equal names moves: `a(1).jpg` has `a.jpg(1).json` or
 * `a.jpg.supplemental-metadata(1).json`. Edited photos and the videos of Live Photos use the file of the original.
 */

const SUFFIX = ".supplemental-metadata";
/** A name is cut to 46 characters; names of some ages are a little shorter. */
const CUT_MIN = 40;
const CUT_MAX = 46;

/** What Google adds to the names of changed photos, in the languages of its users. */
const EDITED = [
  "edited",
  "effects",
  "animation",
  "collage",
  "cover",
  "mix",
  "motion",
  "smile",
  "bearbeitet",
  "bewerkt",
  "editada",
  "editado",
  "editat",
  "edytowane",
  "ha editado",
  "modificato",
  "modifié",
  "muokattu",
  "redigerad",
  "redigeret",
  "redigert",
  "upraveno",
  "изменено",
  "编辑",
  "編集済み",
];
const EDITED_END = new RegExp(`^(?<stem>.+)-(?:${EDITED.join("|")})$`, "iu");
/** A name that is cut to 47 characters may end within the word. */
const CUT_EDITED_END = /^(?=.{45})(?<stem>.{36,})-\p{L}{0,9}$/u;
const NUMBER_END = /^(?<stem>.+)(?<number>\(\d{1,4}\))$/u;

const PICTURE = /\.(?:heic|heif|jpe?g|png|webp|avif|gif|dng|tiff?)$/i;
const VIDEO = /\.(?:mp4|mov|m4v|mp(?:~\d)?|mv|webm|3gp)$/i;
const PICTURE_EXTENSIONS = [
  "HEIC",
  "heic",
  "JPG",
  "jpg",
  "jpeg",
  "JPEG",
  "HEIF",
  "heif",
  "png",
  "PNG",
  "webp",
  "dng",
  "DNG",
];

/** Names of the folder with all photos of a year, in the languages of Google. The year is the second group. */
const YEAR_FOLDER =
  /^(?:Photos from|Photos de|Photos du|Fotos von|Fotos aus|Fotos de|Fotos del|Foto del|Foto dal|Foto da|Foto's uit|Foton från|Bilder från|Bilder fra|Billeder fra|Kuvat vuodelta|Zdjęcia z|Fotky z|Fotografie z|Fényképek|Фото за|Фотографии за|Fotografii din|Φωτογραφίες από|Fotoğraflar|写真|사진) ?(?<year>(?:19|20)\d\d)(?: г\.)?$/iu;
const ANY_YEAR = /(?:^|\D)(?<year>(?:19|20)\d\d)(?:\D|$)/u;

/** The photo folder of a Takeout archive: "Google Photos" in the language of the person, in either order. */
const PHOTOS_FOLDER = bothOrders(
  "Photos?|Fotos?|Foto's|Fotók|Foton|Bilder|Billeder|Kuvat|Zdjęcia|Fotky|Fotografije|Fotografii|Fotoattēli|Fotod|Nuotraukos|Fotoğraflar|Ảnh|Фото|Снимки|Φωτογραφίες|フォト|포토|相册|相簿|תמונות|صور",
);
const DRIVE_FOLDER = bothOrders(
  "Drive|Disk|Dysk|Диск|ドライブ|드라이브|云端硬盘|雲端硬碟",
  "Drive|Диск|ドライブ|드라이브|云端硬盘|雲端硬碟",
);

/** A name without its extension, and the extension with its dot. */
export interface SplitName {
  readonly stem: string;
  readonly extension: string;
}

/** Splits a name before its last dot. */
export function splitExtension(name: string): SplitName {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? { stem: name, extension: "" } : { stem: name.slice(0, dot), extension: name.slice(dot) };
}

/** "Google Fotos" and "Fotky Google". @param alone names without "Google" */
function bothOrders(words: string, alone = ""): RegExp {
  const names = [`Google[ _]?(?:${words})`, `(?:${words})[ _]Google`, ...(alone === "" ? [] : [alone])];
  return new RegExp(`^(?:${names.join("|")})$`, "iu");
}

/** The kind of a folder at the top of an archive. @param inner the folder in it; empty for none */
export function kindOfProduct(name: string, inner = ""): "photos" | "drive" | "other" {
  const normal = name.normalize("NFC");
  if (DRIVE_FOLDER.test(normal)) return "drive";
  // "Google Photos" in another language: only photos are in folders of years.
  return PHOTOS_FOLDER.test(normal) || YEAR_FOLDER.test(inner.normalize("NFC")) ? "photos" : "other";
}

/** The year of a folder with all photos of that year. @param isAlbum whether it has the description of an album */
export function yearOfFolder(name: string, isAlbum: boolean): string | undefined {
  const normal = name.normalize("NFC");
  return (YEAR_FOLDER.exec(normal) ?? (isAlbum ? null : ANY_YEAR.exec(normal)))?.groups?.["year"];
}

/** Where a description is found, and how the file relates to it. */
export interface SidecarName {
  /** Without `.json`. */
  readonly name: string;
  readonly relation: "own" | "edited" | "motion";
  /** What the file has in addition to the name of the original, such as `-edited`. */
  readonly addition: string;
}

/** The names that the description of a file may have, the most exact first. */
export function* sidecarNames(fileName: string): Generator<SidecarName> {
  for (const name of ownNames(fileName)) yield { name, relation: "own", addition: "" };
  const original = withoutEdit(fileName);
  if (original !== undefined) {
    const { addition } = original;
    for (const name of ownNames(original.name)) yield { name, relation: "edited", addition };
    // The edited copy of a HEIC photo is a JPEG.
    for (const name of picturesLike(original.name)) yield { name, relation: "edited", addition };
  }
  if (!VIDEO.test(fileName)) return;
  for (const name of picturesLike(fileName)) yield { name, relation: "motion", addition: "" };
  // IMG_1.HEIC.mp4, PXL_1.MP
  for (const name of ownNames(splitExtension(fileName).stem)) yield { name, relation: "motion", addition: "" };
}

/** Whether a file is a picture, by its name. */
export function isPicture(name: string): boolean {
  return PICTURE.test(name);
}

function* ownNames(fileName: string): Generator<string> {
  const { stem, extension } = splitExtension(fileName);
  const { stem: base, number } = NUMBER_END.exec(stem)?.groups ?? {};
  yield* cuts(fileName, "");
  if (base === undefined || number === undefined) {
    yield* shortened(fileName, "");
  } else {
    const unnumbered = `${base}${extension}`;
    yield* cuts(unnumbered, number);
    // With the number first: a long name without it is the name of another photo, which has a description too.
    yield* shortened(unnumbered, number);
    yield* shortened(fileName, "");
    // A copy of a photo with a cut name may have none of its own.
    yield* shortened(unnumbered, "");
  }
  // The title had no extension, if this is not the video of a photo, such as `a.HEIC.mp4`.
  if (isPicture(stem)) return;
  yield stem;
  yield `${stem}${SUFFIX}`;
}

/** All that is left of the name of a description once it is cut behind the name of the file. */
function* cuts(fileName: string, number: string): Generator<string> {
  const whole = `${fileName}${SUFFIX}`;
  yield `${whole}${number}`;
  yield `${fileName}${number}`;
  for (let length = whole.length - 1; length > fileName.length; length--) yield `${whole.slice(0, length)}${number}`;
}

/** A long name as it is cut. */
function* shortened(fileName: string, number: string): Generator<string> {
  const longest = Math.min(CUT_MAX, fileName.length - 1);
  for (let length = longest; length >= CUT_MIN; length--) yield `${fileName.slice(0, length)}${number}`;
}

/** The name of the original of an edited photo: `a(1)-edited.jpg` and `a-edited(1).jpg` are of `a(1).jpg`. */
function withoutEdit(fileName: string): { readonly name: string; readonly addition: string } | undefined {
  const { stem, extension } = splitExtension(fileName);
  const numbered = NUMBER_END.exec(stem)?.groups;
  for (const [text, number] of [
    [stem, ""],
    [numbered?.["stem"] ?? "", numbered?.["number"] ?? ""],
  ] as const) {
    const original = (EDITED_END.exec(text) ?? CUT_EDITED_END.exec(text))?.groups?.["stem"];
    if (original !== undefined)
      return { name: `${original}${number}${extension}`, addition: text.slice(original.length) };
  }
  return undefined;
}

function* picturesLike(fileName: string): Generator<string> {
  const { stem } = splitExtension(fileName);
  for (const extension of PICTURE_EXTENSIONS) yield* ownNames(`${stem}.${extension}`);
}

/** Letters and digits of a name: Google replaces other characters of a title in the name of the file. */
export function fuzzyName(name: string): string {
  const { stem, extension } = splitExtension(name);
  const base = NUMBER_END.exec(stem)?.groups;
  const text = (base?.["stem"] ?? stem).normalize("NFC").replaceAll(/[^\p{L}\p{N}]/gu, "");
  return `${text.slice(0, CUT_MIN)}${base?.["number"] ?? ""}${extension.toLowerCase()}`;
}
