import { test } from "bun:test";
import type { Locator } from "playwright-core";
import { makeZip } from "../support/document-files.ts";
import { eventually } from "../support/expect.ts";
import { landscape, pdf } from "../support/sample-library.ts";
import { tile } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey } from "./support/focus.ts";
import { openPreview, overlay } from "./support/preview.ts";

const OFFICE = "application/vnd.openxmlformats-officedocument";

/** Word document with these paragraphs. */
function docx(paragraphs: readonly string[]): Buffer {
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join("");
  return makeZip({
    "[Content_Types].xml": "<Types/>",
    "word/document.xml": `<w:document><w:body>${body}</w:body></w:document>`,
  });
}

async function isDrawn(picture: Locator): Promise<boolean> {
  return picture.evaluate((image) => image instanceof HTMLImageElement && image.complete && image.naturalWidth > 0);
}

/** Waits until the three files with a picture show it. */
async function expectPictures(pictures: Locator): Promise<void> {
  await eventually("all pictures are drawn", async () => {
    const drawn = await Promise.all((await pictures.all()).map(isDrawn));
    return drawn.length === 3 && drawn.every(Boolean);
  });
}

describeWeb("pictures of documents", (web) => {
  test("tiles, lists and the preview show the first page of PDFs and office files, and the icon of others", async () => {
    const { client, ...account } = await web.account();
    await client.upload(pdf(["Garden plan, page 1", "Beds and paths"]), { name: "Garden plan.pdf" });
    const paragraphs = [
      "Minutes of the meeting",
      ...Array.from(
        { length: 12 },
        (_, i) => `${i + 1}. The garden committee met, and talked about beds, paths and the number of benches.`,
      ),
    ];
    await client.upload(docx(paragraphs), { name: "Minutes.docx" });
    const slides = { "ppt/presentation.xml": "<p/>", "docProps/thumbnail.jpeg": await landscape(3, 320, 240) };
    await client.upload(makeZip({ "[Content_Types].xml": "<Types/>", ...slides }), {
      name: "Slides.pptx",
      type: `${OFFICE}.presentationml.presentation`,
    });
    await client.upload(docx(["会议记录"]), { name: "会议.docx" });
    await client.upload("plain words", { name: "Notes.txt" });
    await eventually("the document in other letters has no picture", async () => {
      const list = await client.get("/api/files?folder=/");
      return new TextDecoder().decode(list.bytes).split('"hasThumbnail":false').length === 3;
    });
    const page = await web.open({ as: { client, ...account } });
    const pictures = page.getByRole("main").locator("img");
    await expectPictures(pictures);
    await page.getByRole("button", { name: "Tiles" }).click();
    await tile(page, "Minutes.docx").waitFor();
    await expectPictures(pictures);
    await tile(page, "会议.docx").locator("svg[data-icon=document]").waitFor();
    await web.lookAt(page, "document-tiles");
    await openPreview(page, "Minutes.docx");
    const first = overlay(page).getByRole("img", { name: "First page" });
    await eventually("the first page is drawn", () => isDrawn(first));
    await web.lookAt(page, "preview-office");
    await closeByKey(page, overlay(page));
  });
});
