/** The pages of the server in another language. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { renderAppShell } from "../../../src/web/bundle/app-shell.ts";
import { renderManifest } from "../../../src/web/bundle/app-install.ts";
import { ClientFiles } from "../../../src/web/bundle/client-files.ts";
import * as confirmEmail from "../../../src/web/pages/confirm-email-page.ts";
import { renderDropBoxPage } from "../../../src/web/pages/drop-box-page.ts";
import { renderErrorPage } from "../../../src/web/pages/error-page.ts";
import { html, htmlMessage } from "../../../src/web/pages/html.ts";
import * as invite from "../../../src/web/pages/invite-page.ts";
import * as reset from "../../../src/web/pages/reset-password-page.ts";
import * as setup from "../../../src/web/pages/setup-page.ts";
import * as share from "../../../src/web/pages/share-page.ts";
import { renderSharedFolderPage } from "../../../src/web/pages/shared-folder-page.ts";
import { renderNotSetUpPage, renderSignInPage } from "../../../src/web/pages/sign-in-form-page.ts";
import * as provider from "../../../src/web/pages/sign-in-page.ts";
import * as welcome from "../../../src/web/pages/welcome-page.ts";

const ROOT = join(import.meta.dir, "../../../src/translations");

/** All texts of a language, by their key. */
async function textsOf(tag: string): Promise<Map<string, string>> {
  const flatten = (value: unknown, key: string): [string, string][] =>
    typeof value === "string"
      ? [[key, value]]
      : Object.entries(value ?? {}).flatMap(([name, inner]) => flatten(inner, `${key}.${name}`));
  return new Map(flatten(await Bun.file(join(ROOT, tag, "server.json")).json(), ""));
}

const FRAME = { basePath: "", language: "de", scripts: [] };
const FILES = new ClientFiles(
  {
    version: "1",
    files: {},
    entries: { "start.css": ["s.css"], "start.ts": ["s.js"] },
    worker: { type: "", identity: { offset: 0, size: 0 } },
  },
  new Blob(),
);
const problem = { field: undefined, message: "Nein." } as const;
const sharer = { name: "Ann", pictureUrl: "/p" };
const file = { fileName: "a.pdf", sizeBytes: 5, mediaType: "application/pdf", downloadUrl: "/d" };
const signIn = { next: "/", provider: "P", hasPasskeys: true, hasMail: true } as const;
const scripts = { theme: "/t.js", module: ["/m.js"] };
const person = { id: "usr_1", name: "Ben", email: "b@example.org" };
const folder = {
  kind: "folder",
  name: "F",
  description: "",
  above: [{ name: "A", url: "/a" }],
  entries: [
    { id: "1", name: "B", url: "/b", dateMs: 0, file: undefined, itemCount: 2 },
    {
      id: "2",
      name: "c",
      url: "/c",
      dateMs: 0,
      itemCount: 0,
      file: { sizeBytes: 1, mediaType: "x/y", downloadUrl: "/d", thumbnailUrl: undefined, view: undefined },
    },
  ],
  total: 200,
  sorts: [],
  views: [],
  isGrid: false,
  page: 2,
  pages: 3,
  previousUrl: "/1",
  nextUrl: "/3",
  archiveUrl: "/z",
  selectionUrl: "/y",
  expiresAtMs: 0,
  sharer,
  preview: undefined,
} as const;
const dropBox = {
  title: undefined,
  sharer,
  uploadUrl: "/u",
  resumableUrl: "/t",
  lock: undefined,
  maxFileSizeBytes: 1000,
  expiresAtMs: 0,
};

const PAGES: readonly string[] = [
  renderAppShell(FRAME, FILES),
  renderManifest(FRAME, FILES),
  confirmEmail.renderConfirmEmailPage(FRAME, "t", person.email),
  confirmEmail.renderConfirmEmailDonePage(FRAME, person.email),
  confirmEmail.renderConfirmEmailGonePage(FRAME),
  renderDropBoxPage(FRAME, dropBox),
  renderDropBoxPage(FRAME, {
    ...dropBox,
    sharer: undefined,
    maxFileSizeBytes: null,
    received: { name: "a", sizeBytes: 1, checksum: "c" },
  }),
  ...[400, 401, 403, 404, 405, 410, 413, 418, 429, 500, 503, 507].map((status) =>
    renderErrorPage(FRAME, status, "Nein."),
  ),
  invite.renderInvitePage(FRAME, { token: "t", boundTo: person.email, problem }),
  ...[true, false].map((isSignedIn) => invite.renderInviteDonePage(FRAME, { email: person.email, isSignedIn })),
  invite.renderInviteGonePage(FRAME),
  reset.renderResetPage(FRAME, "t", { message: "Nein.", endKeys: true }),
  reset.renderResetDonePage(FRAME),
  reset.renderResetGonePage(FRAME),
  setup.renderSetupPage(FRAME, { token: "t", problem }),
  setup.renderSetupDonePage(FRAME, person.email, "restarting"),
  setup.renderSetupDonePage(FRAME, person.email, "not_saved"),
  setup.renderSetupDonePage(FRAME, person.email, "accounts"),
  setup.renderSetupGonePage(FRAME),
  share.renderSharePage(FRAME, {
    ...file,
    inlineUrl: "/i",
    previewUrl: "/p",
    sharer,
    folder: { name: "F", url: "/f" },
  }),
  ...["image/x", "audio/x", "video/x", "application/zip", "text/rtf", "text/x", "x/y", "application/vnd.ms-excel"].map(
    (mediaType) => share.renderSharePage(FRAME, { ...file, mediaType, inlineUrl: undefined, previewUrl: undefined }),
  ),
  share.renderUnlockPage(FRAME, "/u"),
  share.renderUnlockPage(FRAME, "/u", "Nein."),
  share.renderShareNotFoundPage(FRAME),
  ...[true, false].map((canWrite) => share.renderReceivedSharePage(FRAME, { name: "a", ownerName: "Ann", canWrite })),
  renderSharedFolderPage(FRAME, folder),
  renderSharedFolderPage(FRAME, { ...folder, entries: [] }),
  renderSharedFolderPage(FRAME, { ...folder, kind: "album", entries: [] }),
  ...(["open", "invite", "closed"] as const).map((signup) => renderSignInPage(FRAME, scripts, { ...signIn, signup })),
  renderSignInPage(FRAME, scripts, { ...signIn, hasMail: false, signup: "closed" }),
  renderNotSetUpPage(FRAME),
  provider.renderSignInFailedPage(FRAME, "Nein."),
  provider.renderSignInCodePage(FRAME, "123", 5),
  provider.renderConfirmedPage(FRAME),
  welcome.renderWelcomePage(FRAME, { ...person, token: "t", signedInAs: "a@example.org", problem: "Nein." }),
  ...[true, false].map((isSignedIn) => welcome.renderWelcomeDonePage(FRAME, { ...person, isSignedIn })),
  welcome.renderWelcomeGonePage(FRAME),
];

/** The texts of a page between its tags and in attributes that people read or hear. */
function wordsOf(page: string): string {
  const pattern = /(?:aria-label|alt|content|data-hide|data-restarting|data-restarted|data-late)="([^"]*)"/g;
  const attributes = [...page.matchAll(pattern)].map(([, text]) => text);
  return [page.replaceAll(/<[^>]*>/g, "\n"), ...attributes].join("\n");
}

test("no page has English text in it, and pages use the texts of their language", async () => {
  const [english, german] = [await textsOf("en"), await textsOf("de")];
  const words = PAGES.map(wordsOf);
  const partsOf = (text: string) => text.split(/\{[^}]*\}/).map((part) => part.trim());
  const isShown = (part: string) => words.some((page) => page.includes(Bun.escapeHTML(part)));
  const left: string[] = [];
  const unseen: string[] = [];
  for (const [key, text] of english) {
    const translated = german.get(key) ?? "";
    if (!/^\.page-|^\.app-/.test(key) || text === translated || text.includes("plural")) continue;
    left.push(...partsOf(text).filter((part) => part.length > 6 && !translated.includes(part) && isShown(part)));
    if (!partsOf(translated).every((part) => part.length < 3 || isShown(part))) unseen.push(key);
  }
  expect(left).toEqual([]);
  // Texts that only the routes choose, and the note of the API documentation.
  expect(unseen.filter((key) => !/\.page-share\.(tooMany|expired|usedUp|notAllowed|request)/.test(key))).toEqual([
    ".page-frame.docsNeedScript",
    ".page-share.kinds.presentation",
    ".page-shared-folder.sorts.position",
    ".page-shared-folder.sorts.size",
    ".page-shared-folder.sorts.date",
    ".page-shared-folder.views.list",
    ".page-shared-folder.views.grid",
  ]);
});

test("the kind of a file names its format once", () => {
  const kinds = ["en", "de", "fr", "ja"].map((tag) => share.describeKind(tag, "application/pdf", "a.pdf"));
  expect(kinds).toEqual(["PDF document", "PDF-Dokument", "Document PDF", "PDF文書"]);
});

test("each page names its language and direction", () => {
  const pages = PAGES.filter((page) => page.startsWith("<!doctype html>"));
  expect(pages.length).toBe(PAGES.length - 1);
  for (const page of pages) expect(page).toContain('<html lang="de" dir="ltr"');
  expect(renderErrorPage({ ...FRAME, language: "ar" }, 404, "")).toContain('<html lang="ar" dir="rtl"');
});

test("the pseudo-language changes texts, and neither markup nor commands", () => {
  const frame = { ...FRAME, language: "ar-XB" };
  const page = share.renderReceivedSharePage(frame, { name: "a", ownerName: "Ann", canWrite: false });
  expect(page).toContain('<html lang="ar-XB" dir="rtl"');
  expect(page).toContain('[<strong dir="auto">Ann</strong> sháréd thís wíth yöü.');
  expect(setup.renderSetupGonePage(frame)).toContain("<code>larder user setup-link</code>");
});

test("a message with markup escapes its text and the words of people", () => {
  const message = ({ who, what }: { readonly who: string | number; readonly what: string | number }) =>
    `<i>${who}</i> & ${what}`;
  const rendered = htmlMessage(message, { who: html`<b>${"<Ann>"}</b>`, what: "\ue0000\ue001\ue0007\ue001 <p>" });
  expect(rendered.text).toBe("&lt;i&gt;<b>&lt;Ann&gt;</b>&lt;/i&gt; &amp; <b>&lt;Ann&gt;</b> &lt;p&gt;");
});
