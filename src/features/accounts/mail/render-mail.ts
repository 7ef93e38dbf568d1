/** The form of all mails: plain words, and the same words as a page that needs nothing from elsewhere. */
import type { MailMessage } from "./types.ts";

/** The content of a mail. */
export interface MailContent {
  /** One line; characters that would end a line are taken out. */
  readonly subject: string;
  /** Each one sentence or a few. */
  readonly paragraphs: readonly string[];
  /** Stands behind the first paragraph. */
  readonly link?: { readonly label: string; readonly url: string } | undefined;
}

const SUBJECT_CHARACTERS_MAX = 150;
/** Names are cut in sentences. */
const NAME_CHARACTERS_MAX = 60;
const FOOTER = "This email was sent automatically by a Larder server. Replies are not read.";

/** Both forms of a letter. */
export function renderMail({ subject, paragraphs, link }: MailContent): MailMessage {
  const [first = "", ...others] = paragraphs.map(oneLine);
  const plain = [first, ...(link === undefined ? [] : [link.url]), ...others, `-- \n${FOOTER}`];
  const button =
    link === undefined
      ? ""
      : `<p><a href="${escapeMarkup(link.url)}">${escapeMarkup(link.label)}</a></p>` +
        `<p>${escapeMarkup(link.url)}</p>`;
  const rest = others.map(paragraph).join("");
  return {
    subject: oneLine(subject).slice(0, SUBJECT_CHARACTERS_MAX),
    text: `${plain.join("\n\n")}\n`,
    html: page(`${paragraph(first)}${button}${rest}<p><small>${escapeMarkup(FOOTER)}</small></p>`),
  };
}

/** A page made of plain text, paragraph by paragraph. */
export function pageOf(text: string): string {
  const paragraphs = text.split(/\n{2,}/).filter((words) => words.trim() !== "");
  return page(paragraphs.map((words) => `<p>${escapeMarkup(words.trim()).replaceAll("\n", "<br>")}</p>`).join(""));
}

/** Text on one line: what could end it, or turn its direction, is a space. */
export function oneLine(text: string): string {
  return text.toWellFormed().replaceAll(BREAKING, " ").replaceAll(/ {2,}/g, " ").trim();
}

/**
 * A name that somebody chose, as it may stand in a mail from us: short, on one line, and no address that a mail program
 * would make a link of. Otherwise a name were a way to send other people's links in our name.
 */
export function quoteName(name: string): string {
  const characters = [
    ...oneLine(name)
      .replaceAll(/:\/\//g, " ")
      .replaceAll(/(\S)\.(?=\S)/g, "$1\u2024"),
  ];
  const isLong = characters.length > NAME_CHARACTERS_MAX;
  return `“${isLong ? `${characters.slice(0, NAME_CHARACTERS_MAX - 1).join("")}…` : characters.join("")}”`;
}

const BREAKING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

function paragraph(words: string): string {
  return words === "" ? "" : `<p>${escapeMarkup(words)}</p>`;
}

function page(body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"></head><body>${body}</body></html>`;
}

function escapeMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0) ?? 0};`);
}
