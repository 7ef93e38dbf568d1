import { describe, expect, test } from "bun:test";
import { escapeHtml, html } from "../../../src/web/pages/html.ts";
import { renderErrorPage } from "../../../src/web/pages/error-page.ts";
import { renderSignInPage } from "../../../src/web/pages/sign-in-form-page.ts";
import { webRoutes } from "../../../src/web/routes.ts";
import { renderSetupPage } from "../../../src/web/pages/setup-page.ts";
import { renderShareNotFoundPage, renderSharePage } from "../../../src/web/pages/share-page.ts";
import { shareTexts } from "../../../src/web/pages/share-text.ts";

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&\u202egpj.exe\u0000`;

const FRAME = { basePath: "", language: "en", scripts: [] };

const share = {
  fileName: HOSTILE,
  sizeBytes: 1,
  mediaType: "image/png",
  downloadUrl: `/d?a=1&b="x`,
  inlineUrl: "/i",
  previewUrl: "/p",
};

describe("text in pages", () => {
  test("is escaped everywhere a person's words come in", () => {
    const problem = { field: "name", message: HOSTILE } as const;
    for (const page of [
      renderSharePage(FRAME, share),
      renderSharePage(FRAME, { ...share, mediaType: "video/mp4" }),
      renderSharePage(FRAME, { ...share, mediaType: "audio/wav", previewUrl: undefined }),
      renderSharePage(FRAME, { ...share, mediaType: HOSTILE, inlineUrl: undefined, previewUrl: undefined }),
      renderSetupPage(FRAME, { token: HOSTILE, email: HOSTILE, name: HOSTILE, problem }),
      renderErrorPage(FRAME, 400, HOSTILE),
    ]) {
      expect(page).not.toContain("<script");
      expect(page).not.toMatch(/<img src=x|alert\(2\)'/);
      expect(page).not.toMatch(/[\u202e\0]/);
      expect(page).toContain("&lt;script&gt;");
    }
  });

  test("keeps everything else as it is", () => {
    expect(escapeHtml(`Ünï & <日本> "x" 'y'\n`)).toBe("Ünï &amp; &lt;日本&gt; &quot;x&quot; &#39;y&#39;\n");
    expect(html`<p class="${"a b"}">${[html`<b>`, html`</b>`]}${undefined}${false}${5}</p>`.text).toBe(
      '<p class="a b"><b></b>5</p>',
    );
  });
});

describe("the page of a public link", () => {
  test("previews by type, and offers to open only what may be shown", () => {
    expect(renderSharePage(FRAME, share)).toContain('<img src="/p"');
    expect(renderSharePage(FRAME, { ...share, mediaType: "video/mp4" })).toContain(
      '<video controls preload="none" src="/i"',
    );
    expect(renderSharePage(FRAME, { ...share, mediaType: "audio/mpeg" })).toContain("<audio controls");
    const closed = renderSharePage(FRAME, {
      ...share,
      mediaType: "text/html",
      inlineUrl: undefined,
      previewUrl: undefined,
    });
    expect(closed).not.toContain("Open in browser");
    expect(closed).toContain('href="/d?a=1&amp;b=&quot;x" download');
  });

  test("reports nothing if there is nothing", () => {
    expect(renderShareNotFoundPage(FRAME)).toContain("Link not found");
  });

  test.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [1023, "1,023 bytes"],
    [1024, "1 KB"],
    [1_048_575, "1 MB"],
    [4_812_345, "4.6 MB"],
    [1_073_741_824, "1 GB"],
    [500 * 1024 ** 3, "500 GB"],
  ])("%p bytes are %s", (sizeBytes, expected) => {
    expect(shareTexts("en").size({ bytes: sizeBytes })).toBe(expected);
  });
});

const SIGN_IN = {
  next: HOSTILE,
  provider: HOSTILE,
  hasPasskeys: true,
  hasMail: true,
  signup: "open",
} as const;

describe("the routes of the pages", () => {
  const app = webRoutes({ basePath: "", methodsAt: () => expect.unreachable(), isSignedIn: async () => false }).plugin;
  const get = (path: string): Promise<Response> => app.handle(new Request(`http://localhost${path}`));

  test.each(["/app-document", "/docs"])(
    "all that %s loads is here, may be kept, and its policy allows it",
    async (path) => {
      const response = await get(path);
      const page = await response.text();
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toStartWith("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      const loaded = [...page.matchAll(/(?:<link [^>]*href|<script [^>]*src)="([^"]+)"/g)].map(
        (match) => match[1] ?? "",
      );
      expect(loaded.length).toBeGreaterThanOrEqual(2);
      for (const address of loaded) {
        const asset = await get(address);
        expect([address, asset.status]).toEqual([address, 200]);
        // The manifest alone has a name that never changes.
        const lifetime = address === "/manifest.webmanifest" ? "no-cache" : "immutable";
        expect([address, asset.headers.get("cache-control")]).toEqual([address, expect.stringContaining(lifetime)]);
        expect((await asset.text()).length).toBeGreaterThan(10);
      }
    },
  );

  test("pages hold no script and no style of their own", async () => {
    const pages = [
      await (await get("/app-document")).text(),
      renderSignInPage(FRAME, { theme: "/t.js", module: ["/m.js"] }, SIGN_IN),
      await (await get("/docs")).text(),
      renderSharePage(FRAME, share),
      renderSetupPage(FRAME, { token: "t" }),
    ];
    for (const page of pages) expect(page).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+="/);
  });

  test("an unknown asset is not found", async () => {
    expect((await get("/assets/../../etc/passwd")).status).toBe(404);
    expect((await get("/assets/larder.0000.css")).status).toBe(404);
  });
});
