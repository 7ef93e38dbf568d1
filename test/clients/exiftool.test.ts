// ExifTool, which Immich and many other programs read photos with: it reads the sidecars of an export.
import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expectStatus } from "../support/expect.ts";
import { tinyPng } from "../support/images.ts";
import { sharedServer, temporaryDirectory } from "../support/server.ts";
import { describeWith, mustRun } from "./support/programs.ts";

const server = sharedServer({ hasAccounts: true });

describeWith("ExifTool", ["exiftool"], () => {
  test("reads every detail of a sidecar, and warns of nothing", async () => {
    const { client, email } = await server().signUp();
    const description = `Two lines,\n<b>"quotes"</b> & 'more' ]]> 😀 ünïcode`;
    const capturedAt = "2019-08-07T06:05:04.321+05:45";
    const metadata = JSON.stringify({ location: "-33.856784,151.215297", description });
    const fields = { tags: "sea,a & b,日本", capturedAt, metadata };
    const id = await client.storedId(tinyPng(), { name: "-odd &name.png", fields });
    expectStatus(await client.post("/api/favorites", { ids: [id], favorite: true }), 200);
    for (const name of ["Sydney", `A "second" <album>`]) {
      expectStatus(await client.post("/api/albums", { name, fileIds: [id] }), 201);
    }
    const target = await temporaryDirectory();
    try {
      const words = ["export", "--user", email, "--to", target, "--metadata"];
      expect(await server().larder(words)).toMatchObject({ code: 0, stderr: "" });
      const sidecar = join(target, "-odd &name.png.xmp");
      const output = await mustRun(["exiftool", "-json", "-struct", "-G1", "-n", "-validate", "-warning", sidecar]);
      expect(JSON.parse(output)).toMatchObject([{ "ExifTool:Validate": "0 0 0" }]);
      expect(output).not.toContain("Warning");
      const [read] = JSON.parse(await mustRun(["exiftool", "-json", "-struct", "-G1", "-n", sidecar]));
      const instant = "2019:08:07 06:05:04.321+05:45";
      expect(read).toMatchObject({
        "XMP-dc:Description": description,
        "XMP-tiff:ImageDescription": description,
        "XMP-dc:Subject": ["sea", "a & b", "日本"],
        "XMP-digiKam:TagsList": ["sea", "a & b", "日本"],
        "XMP-exif:DateTimeOriginal": instant,
        "XMP-photoshop:DateCreated": instant,
        "XMP-xmp:CreateDate": instant,
        "XMP-xmp:Rating": 5,
        "XMP-fstop:Favorite": 1,
        "XMP-mwg-coll:Collections": [{ CollectionName: `A "second" <album>` }, { CollectionName: "Sydney" }],
      });
      expect(read["XMP-exif:GPSLatitude"]).toBeCloseTo(-33.856784, 6);
      expect(read["XMP-exif:GPSLongitude"]).toBeCloseTo(151.215297, 6);
    } finally {
      await rm(target, { recursive: true, force: true });
    }
  });
});
