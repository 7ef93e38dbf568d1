// The names of descriptions in Google Takeout, as people have reported them.
import { expect, test } from "bun:test";
import {
  kindOfProduct,
  sidecarNames,
  yearOfFolder,
} from "../../../../src/features/storage/imports/sources/takeout/names.ts";

/** How a file relates to a description of this name; undefined if it is not its description. */
function relationOf(fileName: string, sidecar: string): string | undefined {
  return [...sidecarNames(fileName)].find(({ name }) => `${name}.json` === sidecar)?.relation;
}

test.each([
  ["IMG_1.jpg", "IMG_1.jpg.json"],
  ["IMG_1.jpg", "IMG_1.jpg.supplemental-metadata.json"],
  ["IMG_1.jpg", "IMG_1.jpg.suppl.json"],
  ["IMG_1.jpg", "IMG_1.jpg.s.json"],
  ["IMG_1.jpg", "IMG_1.jpg..json"],
  ["IMG_1(1).jpg", "IMG_1.jpg(1).json"],
  ["IMG_1(1).jpg", "IMG_1.jpg.supplemental-metadata(1).json"],
  ["IMG_1(1).jpg", "IMG_1(1).jpg.json"],
  ["PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGINA.jpg", "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGIN.json"],
  ["05yqt21kruxwwlhhgrwrdyb6chhwszi9bqmzu16w0 2.jpg", "05yqt21kruxwwlhhgrwrdyb6chhwszi9bqmzu16w0 2.jp.json"],
  [
    "Backyard_ceremony_wedding_photography_xxxxxxx_m(494).jpg",
    "Backyard_ceremony_wedding_photography_xxxxxxx_(494).json",
  ],
  ["original_1d4caa6f-16c6-4c3d-901b-9387de10e528_P(1).jpg", "original_1d4caa6f-16c6-4c3d-901b-9387de10e528_.json"],
  ["13039_327707840323_537645323_9470255_27214_n(1).jpg", "13039_327707840323_537645323_9470255_27214_n.j(1).json"],
  ["Ürlaub ïn Knaufspesch ïn dér Schnéifel (38).JPG", "Ürlaub ïn Knaufspesch ïn dér Schnéifel (38).JP.json"],
  ["PXL_20210102_221126856.MP~2.jpg", "PXL_20210102_221126856.MP~2.jpg.json"],
])("%s has %s", (fileName, sidecar) => {
  expect(relationOf(fileName, sidecar)).toBe("own");
});

// Photos whose long names differ only in the number all got the date, place, and text of the first one.
test("a long name with a number has the description with this number before that of the first photo", () => {
  const names = [...sidecarNames("Backyard_ceremony_wedding_photography_xxxxxxx_m(494).jpg")].map(({ name }) => name);
  const own = names.indexOf("Backyard_ceremony_wedding_photography_xxxxxxx_(494)");
  expect(own).toBeGreaterThanOrEqual(0);
  expect(names.indexOf("Backyard_ceremony_wedding_photography_xxxxxxx_")).toBeGreaterThan(own);
});

test.each([
  ["IMG_1-edited.jpg", "IMG_1.jpg.json", "edited"],
  ["PXL_1.PORTRAIT-modifié.jpg", "PXL_1.PORTRAIT.jpg.supplemental-metadata.json", "edited"],
  ["IMG_1-ha editado.jpg", "IMG_1.jpg.json", "edited"],
  ["IMG_1-編集済み.jpg", "IMG_1.HEIC.json", "edited"],
  ["IMG_1(3)-edited.jpg", "IMG_1.jpg(3).json", "edited"],
  ["IMG_1-edited(3).jpg", "IMG_1.jpg(3).json", "edited"],
  ["IMG_1.MP4", "IMG_1.HEIC.supplemental-metadata.json", "motion"],
  ["IMG_1(2).mov", "IMG_1.HEIC(2).json", "motion"],
  ["PXL_1.MP", "PXL_1.jpg.json", "motion"],
  ["IMG_1.HEIC.mp4", "IMG_1.HEIC.json", "motion"],
])("%s uses %s of its original", (fileName, sidecar, relation) => {
  expect(relationOf(fileName, sidecar)).toBe(relation);
});

test.each([
  ["DSC_0104(1).JPG", "DSC_0104.JPG.json"],
  ["DSC_0103.JPG", "DSC_0103.JPG(1).json"],
  ["DSC_0102(1).JPG", "DSC_0102.JPG(2).json"],
  ["PXL_1.PORTRAIT-modifié.jpg", "PXL_2.PORTRAIT.jpg.json"],
  ["IMG_1.jpg", "IMG_10.jpg.json"],
])("%s does not have %s", (fileName, sidecar) => {
  expect(relationOf(fileName, sidecar)).toBeUndefined();
});

test.each([
  ["Photos from 2019", false, "2019"],
  ["Fotos von 2019", true, "2019"],
  ["Foto's uit 2019", false, "2019"],
  ["Фото за 2019 г.", false, "2019"],
  ["Italy 2019", true, undefined],
  ["Irgendwas 2019", false, "2019"],
  ["Holidays", false, undefined],
])("the folder %s (album: %p) is of the year %s", (name, isAlbum, year) => {
  expect(yearOfFolder(name, isAlbum)).toBe(year);
});

test("products in several languages", () => {
  expect(["Google Photos", "Google Fotos", "Google Фото", "Google フォト"].map((name) => kindOfProduct(name))).toEqual(
    Array.from({ length: 4 }, () => "photos"),
  );
  expect(["Drive", "Диск", "Google Drive"].map((name) => kindOfProduct(name))).toEqual(["drive", "drive", "drive"]);
  expect(["Keep", "Google Chat", "Mail"].map((name) => kindOfProduct(name))).toEqual(["other", "other", "other"]);
  // All photos of these people were left out.
  for (const name of ["Zdjęcia Google", "Fotky Google", "Google Fotoğraflar"])
    expect(kindOfProduct(name)).toBe("photos");
  expect(kindOfProduct("Dysk Google")).toBe("drive");
  expect(kindOfProduct("A new name", "Photos from 2019")).toBe("photos");
  expect(kindOfProduct("A new name", "Something")).toBe("other");
});
