/** Crockford's base 32 in lower case: sorts like its numbers, and has no letters that look like digits. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 10;

/** The kind of object of an id: its prefix. */
type IdPrefix =
  | "file"
  | "fold"
  | "albm"
  | "usr"
  | "ses"
  | "shr"
  | "req"
  | "inv"
  | "grp"
  | "upl"
  | "ups"
  | "cfl"
  | "hold"
  | "ntf"
  | "key"
  | "app"
  | "psk"
  | "whk"
  | "evt"
  | "aud"
  | "fnd"
  | "lck"
  | "ext"
  | "imp";

let lastMs = 0;
let lastRandom: number[] = [];

/**
 * Makes an opaque id with a prefix, such as `file_01j9z3k8xq4w7v2m5n6p`: 50 bits of milliseconds, then 50 random bits.
 * Ids of one process sort by creation, also within a millisecond and after the clock was set back.
 */
export function newId(prefix: IdPrefix, nowMs: number): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    lastRandom = Array.from(crypto.getRandomValues(new Uint8Array(RANDOM_CHARACTERS)), (byte) => byte & 31);
    // The top bit stays free, so that the increments within one millisecond never overflow into the time.
    lastRandom[0] = (lastRandom[0] ?? 0) & 15;
  } else {
    // The step is random too, so that the next id can't be guessed from the last one.
    let carry = 1 + (crypto.getRandomValues(new Uint16Array(1))[0] ?? 0);
    for (let i = RANDOM_CHARACTERS - 1; i >= 0 && carry > 0; i--) {
      const sum = (lastRandom[i] ?? 0) + carry;
      lastRandom[i] = sum & 31;
      carry = sum >> 5;
    }
  }
  let time = "";
  for (let rest = lastMs, i = 0; i < TIME_CHARACTERS; i++) {
    time = ALPHABET.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  return `${prefix}_${time}${lastRandom.map((digit) => ALPHABET.charAt(digit)).join("")}`;
}

/** Random URL-safe text of the given strength, for tokens that grant access. */
export function newSecretToken(bits = 192): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(Math.ceil(bits / 8)))).toString("base64url");
}
