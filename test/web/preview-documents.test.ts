import { expect, test } from "bun:test";
import { eventually } from "../support/expect.ts";
import { pdf } from "../support/sample-library.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey } from "./support/focus.ts";
import { lockedPdf } from "./support/locked-pdf.ts";
import { openPreview, overlay, showing } from "./support/preview.ts";

describeWeb("the preview of documents", (web) => {
  test("text, source code and Markdown are rendered by their kind, and navigated by keys", async () => {
    const account = await web.account();
    await account.client.upload("Zeile 1\nÄpfel, 苹果", { name: "1 plain.txt" });
    await account.client.upload('export const answer: number = 42; // "why"\n', {
      name: "2 code.ts",
      type: "text/plain",
    });
    const picture =
      '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30"/></svg>';
    await account.client.upload(picture, {
      name: "a plan.svg",
      type: "image/svg+xml",
      fields: { folder: "/drawings" },
    });
    const markdown = [
      "# Title",
      "- [x] done\n- [ ] open",
      "[link](https://example.com/x)",
      `\`\`\`ts\nconst answer = 42; // ${"a wide line ".repeat(20)}\n\`\`\``,
      "![the plan](drawings/a%20plan.svg) ![lost](drawings/lost.svg)",
    ];
    await account.client.upload(markdown.join("\n\n"), { name: "3 read.md" });
    const page = await web.open({ as: account });
    await openPreview(page, "1 plain.txt");
    await overlay(page).getByText("Äpfel, 苹果").waitFor();
    await web.lookAt(page, "preview-text");
    await page.keyboard.press("ArrowRight");
    await overlay(page).locator(".hljs-number", { hasText: "42" }).waitFor();
    await web.lookAt(page, "preview-code");
    await page.keyboard.press("ArrowRight");
    await overlay(page).getByRole("heading", { name: "Title" }).waitFor();
    const link = overlay(page).getByRole("link", { name: "link", exact: true });
    expect(await link.getAttribute("rel")).toContain("noreferrer");
    await overlay(page).locator("pre .hljs-number", { hasText: "42" }).waitFor();
    expect(await overlay(page).getByRole("checkbox", { checked: true }).count()).toBe(1);
    const plan = overlay(page).getByRole("img", { name: "the plan" });
    await page.waitForFunction(
      (image) => image instanceof HTMLImageElement && image.naturalWidth > 0,
      await plan.elementHandle(),
    );
    await overlay(page).getByText("[image: lost]").waitFor();
    await web.lookAt(page, "preview-markdown");
    // Wide code is scrolled by the keys that otherwise go to another file.
    const code = overlay(page).locator("pre");
    await code.focus();
    await page.keyboard.press("ArrowRight");
    await eventually("the code is scrolled", () => code.evaluate((element) => element.scrollLeft > 0));
    await overlay(page).getByRole("heading", { name: "Title" }).waitFor();
    await closeByKey(page, overlay(page));
  });

  test("uploaded content can't run, load anything, or imitate the page", async () => {
    const account = await web.account();
    const hostile = [
      "# Hostile",
      "<script>window.ran = true</script>",
      '<img src="https://example.com/pixel.png" alt="a pixel" onerror="window.ran = true">',
      "![tracker](https://example.com/tracker.png)",
      "[link](javascript:window.ran=true)",
      '<a href="javascript:window.ran = true">press</a>',
      '<svg onload="window.ran = true"><circle/></svg>',
      '<div style="position:fixed;inset:0" onclick="window.ran = true">cover</div>',
      '<iframe src="https://example.com/"></iframe><form action="https://example.com/"><input name="password"></form>',
      "<style>body{display:none}</style>",
    ].join("\n\n");
    await account.client.upload(hostile, { name: "1 hostile.md" });
    await account.client.upload("<script>window.ran = true</script><b>bold</b>", {
      name: "2 page.html",
      type: "text/html",
    });
    await account.client.upload(
      '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="window.ran = true"><rect width="40" height="40"/></svg>',
      {
        name: "3 picture.svg",
        type: "image/svg+xml",
      },
    );
    const page = await web.open({ as: account });
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(new URL(page.url()).origin) && !/^(?:blob|data):/.test(request.url()))
        foreign.push(request.url());
    });
    await openPreview(page, "1 hostile.md");
    await overlay(page).getByText("[image: tracker]").waitFor();
    const inside = overlay(page).getByRole("article");
    expect(await inside.locator("script, img, svg, iframe, form, input, style, [style], [onclick]").count()).toBe(0);
    expect(await inside.getByText("link", { exact: true }).getAttribute("href")).toBeNull();
    await page.keyboard.press("ArrowRight");
    await overlay(page).getByText("<b>bold</b>").waitFor();
    await page.keyboard.press("ArrowRight");
    await showing(page, "3 picture.svg", "3 of 3");
    await overlay(page).getByRole("img", { name: "3 picture.svg" }).waitFor();
    expect(await page.evaluate(() => Reflect.get(window, "ran"))).toBeUndefined();
    expect(foreign).toEqual([]);
  });

  test("only the beginning of a long text is shown, and binary data is not shown as text", async () => {
    const account = await web.account();
    await account.client.upload(`first line\n${"0123456789abcde\n".repeat(80_000)}last line`, { name: "1 long.log" });
    await account.client.upload(new Uint8Array([1, 2, 0, 4]), { name: "2 odd.txt", type: "text/plain" });
    const page = await web.open({ as: account });
    await openPreview(page, "1 long.log");
    await overlay(page).getByText("Showing the first 1 MB of 1.2 MB").waitFor();
    await overlay(page).getByText("first line").waitFor();
    expect(await overlay(page).getByText("last line").count()).toBe(0);
    await page.keyboard.press("ArrowRight");
    await overlay(page)
      .getByText(/doesn't contain readable text|No preview is available/)
      .waitFor();
  });

  test("a PDF is shown page by page with readable text, and can be zoomed", async () => {
    const account = await web.account();
    const pages = Array.from({ length: 12 }, (_, index) => `This is sheet ${index + 1}`);
    await account.client.upload(new Uint8Array(pdf(pages)), { name: "1 paper.pdf" });
    await account.client.upload("%PDF-1.7\nnot really", { name: "2 broken.pdf", type: "application/pdf" });
    const page = await web.open({ as: account });
    await openPreview(page, "1 paper.pdf");
    await overlay(page).getByText("This is sheet 1", { exact: true }).waitFor();
    await overlay(page).getByText("Page 1 of 12", { exact: true }).waitFor();
    await web.lookAt(page, "preview-pdf");
    expect(await overlay(page).locator("canvas").count()).toBeLessThan(8);
    const sheet = overlay(page).getByRole("group", { name: "Page 1 of 12" });
    const before = (await sheet.boundingBox())?.width ?? 0;
    await page.keyboard.press("+");
    await page.waitForFunction(
      ([name, width]) =>
        (document.querySelector(`[role="group"][aria-label="${name}"]`)?.getBoundingClientRect().width ?? 0) >
        width * 1.2,
      ["Page 1 of 12", before] as const,
    );
    const content = overlay(page).getByRole("region", { name: "Content of 1 paper.pdf" });
    // The end moves as long as pages are rendered at the new size.
    await eventually("the last sheet is shown", async () => {
      await content.evaluate((element) => {
        element.scrollTop = element.scrollHeight;
      });
      return overlay(page).getByText("This is sheet 12", { exact: true }).isVisible();
    });
    await page.keyboard.press("ArrowRight");
    await showing(page, "2 broken.pdf", "2 of 2");
    await overlay(page)
      .getByText(/Couldn't open this PDF|No preview is available/)
      .waitFor();
  });

  test("a protected PDF asks for its password, and reports a wrong one", async () => {
    const account = await web.account();
    await account.client.upload(new Uint8Array(lockedPdf("open sesame")), { name: "locked.pdf" });
    const page = await web.open({ as: account });
    await openPreview(page, "locked.pdf");
    await overlay(page).getByText("Enter the password to open this PDF.").waitFor();
    await web.lookAt(page, "preview-pdf-locked");
    const field = overlay(page).getByLabel("Password", { exact: true });
    await field.fill("open barley");
    await page.keyboard.press("Enter");
    await overlay(page).getByText("Wrong password. Try again.").waitFor();
    await field.fill("open sesame");
    await page.keyboard.press("Enter");
    await overlay(page).getByText("Page 1 of 1", { exact: true }).waitFor();
  });
});
