import { TEXT_BYTES_MAX } from "./types.ts";

/** Characters of one message. */
const PART_CHARACTERS = 32 * 1024;
/** Control characters other than tab, line feed, form feed and carriage return, and the two that are no characters. */
// oxlint-disable-next-line no-control-regex -- they are what is removed
const NO_TEXT = /[\0-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]/g;

/** Collects the text of a file, sends it on in parts, and stops at the limits of size and time. */
export class TextSink {
  readonly #send: (part: string) => void;
  readonly #isTimeOver: () => boolean;
  readonly #bytesMax: number;
  #part = "";
  #sizeBytes = 0;
  #isTruncated = false;
  #isOutOfTime = false;

  /** @param isTimeOver whether no more text is wanted: what was read until then is better than nothing. Asked often */
  constructor(send: (part: string) => void, isTimeOver: () => boolean, bytesMax = TEXT_BYTES_MAX) {
    this.#send = send;
    this.#isTimeOver = isTimeOver;
    this.#bytesMax = bytesMax;
  }

  /** Whether some of the text was left out. */
  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  /** Whether text was left out for lack of time. */
  get isOutOfTime(): boolean {
    return this.#isOutOfTime;
  }

  /** Whether more text is wanted. Ask before reading on. */
  get isOpen(): boolean {
    if (!this.#isTruncated && this.#isTimeOver()) {
      this.#isOutOfTime = true;
      this.truncate();
    }
    return !this.#isTruncated;
  }

  /** Notes that the rest of the file is not read. */
  truncate(): void {
    this.#isTruncated = true;
  }

  /** Adds text. Beyond the limit it is left out. */
  add(text: string): void {
    if (this.#isTruncated) return;
    const clean = text.replaceAll(NO_TEXT, "").toWellFormed();
    const sizeBytes = Buffer.byteLength(clean);
    const leftBytes = this.#bytesMax - this.#sizeBytes;
    // A character has at most three bytes for each of its UTF-16 units.
    const fitting = sizeBytes <= leftBytes ? clean : clean.slice(0, Math.floor(leftBytes / 3)).toWellFormed();
    if (sizeBytes > leftBytes) this.truncate();
    this.#sizeBytes += Buffer.byteLength(fitting);
    this.#part += fitting;
    while (this.#part.length >= PART_CHARACTERS) this.#sendPart();
  }

  /** Sends what is left. */
  end(): void {
    while (this.#part.length > 0) this.#sendPart();
  }

  #sendPart(): void {
    // Not between the two halves of a character.
    const code = this.#part.charCodeAt(PART_CHARACTERS - 1);
    const length = code >= 0xd800 && code <= 0xdbff ? PART_CHARACTERS - 1 : PART_CHARACTERS;
    this.#send(this.#part.slice(0, length));
    this.#part = this.#part.slice(length);
  }
}
