/** Renders mails as plain text, and as a page with the same text that loads nothing from other servers. */
import { directionOf } from "../../../translations/choose-language.ts";
import { mailTexts } from "./text.ts";
import type { MailMessage } from "./types.ts";

/** The content of a mail. */
export interface MailContent {
  /** One line; line breaks are removed. */
  readonly subject: string;
  /** Each has one sentence or a few. */
  readonly paragraphs: readonly string[];
  /** Shown after the first paragraph. */
  readonly link?: { readonly label: string; readonly url: string } | undefined;
}

const SUBJECT_CHARACTERS_MAX = 150;
/** Names are shortened in sentences. */
const NAME_CHARACTERS_MAX = 60;

/** Both forms of a mail. */
export function renderMail(language: string, { subject, paragraphs, link }: MailContent): MailMessage {
  const { footer } = mailTexts(language);
  const [first = "", ...others] = paragraphs.map(oneLine);
  const plain = [first, ...(link === undefined ? [] : [link.url]), ...others, `-- \n${footer}`];
  const button =
    link === undefined
      ? ""
      : `<p><a href="${escapeMarkup(link.url)}">${escapeMarkup(link.label)}</a></p>` +
        `<p>${escapeMarkup(link.url)}</p>`;
  const rest = others.map(paragraph).join("");
  return {
    subject: oneLine(subject).slice(0, SUBJECT_CHARACTERS_MAX),
    text: `${plain.join("\n\n")}\n`,
    html: page(`${paragraph(first)}${button}${rest}<p><small>${escapeMarkup(footer)}</small></p>`, language),
  };
}

/** Turns plain text into a page, paragraph by paragraph. */
export function pageOf(text: string): string {
  const paragraphs = text.split(/\n{2,}/).filter((text) => text.trim() !== "");
  return page(paragraphs.map((text) => `<p>${escapeMarkup(text.trim()).replaceAll("\n", "<br>")}</p>`).join(""));
}

/** Text on one line: characters that end a line or change its direction become spaces. */
export function oneLine(text: string): string {
  return text.toWellFormed().replaceAll(BREAKING, " ").replaceAll(/ {2,}/g, " ").trim();
}

/**
 * A name that somebody chose, made safe for a sentence of a mail from us: short, on one line, and without an address that a mail
 * program would turn into a link. Otherwise a name could be used to send links in our name.
 */
export function safeName(name: string): string {
  const characters = [
    ...oneLine(name)
      .replaceAll(/:\/\//g, " ")
      .replaceAll(/(\S)\.(?=\S)/g, "$1\u2024"),
  ];
  const isLong = characters.length > NAME_CHARACTERS_MAX;
  return isLong ? `${characters.slice(0, NAME_CHARACTERS_MAX - 1).join("")}…` : characters.join("");
}

const BREAKING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

function paragraph(text: string): string {
  return text === "" ? "" : `<p>${escapeMarkup(text)}</p>`;
}

function page(body: string, language = "en"): string {
  return `<!doctype html><html lang="${language}" dir="${directionOf(language)}"><head><meta charset="utf-8"></head><body>${body}</body></html>`;
}

function escapeMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0) ?? 0};`);
}
