/** Determines the value of every setting from what the sources give, and checks values that depend on each other. */
import { resolve } from "node:path";
import { type Message, say } from "../translations/say.ts";
import { isEditable, MAIL_SERVER_KEYS, MAIL_SERVER_SECRETS } from "./editable.ts";
import { BadValue } from "./setting.ts";
import { parseReplicaUrl } from "./settings/replication.ts";
import { type AnySetting, householdDefaults, isRateLimit, SETTINGS, SETTINGS_BY_KEY } from "./settings.ts";

/** A value from one source. */
export interface GivenValue {
  readonly raw: unknown;
  /** "default", "preset household", "--port", "LARDER_PORT", "/srv/larder.toml:3". */
  readonly source: string;
  /** The directory that a relative path is in. */
  readonly directory: string;
}

/** A value that an administrator stored, and that does not apply because it is not valid. */
export interface StoredProblem {
  readonly key: string;
  /** What is wrong, and what to do. */
  readonly text: Message;
}

/** The source of values that administrators store. */
export const STORED = "stored";

/** Paths that become absolute, besides the data directory. */
const PATHS = [
  "socket",
  "tls.certFile",
  "tls.keyFile",
  "nativeDir",
  "libvips",
  "adminPasswordFile",
  "push.fcm.serviceAccountFile",
  "push.apns.keyFile",
  "replica.keyFile",
  "replica.litestream",
];

/** The values of all settings, with their sources. `faults` lists what stops the start. */
export class Resolution {
  readonly values = new Map<string, unknown>();
  readonly sources = new Map<string, string>();
  readonly faults: string[];
  readonly warnings: string[] = [];
  readonly problems: StoredProblem[] = [];
  readonly #given: ReadonlyMap<string, readonly GivenValue[]>;
  readonly #directory: string;
  readonly #stored: ReadonlyMap<string, unknown>;

  /**
   * @param given the given values of each key, by precedence: the first one applies
   * @param directory the directory of a relative data directory that nothing gives
   * @param stored the values that administrators store; ignored where they are not valid or fixed elsewhere
   * @param faults faults of the sources themselves; values are checked together only without any
   */
  constructor(
    given: ReadonlyMap<string, readonly GivenValue[]>,
    directory: string,
    stored: ReadonlyMap<string, unknown>,
    faults: readonly string[] = [],
  ) {
    this.#given = given;
    this.#directory = directory;
    this.#stored = stored;
    this.faults = [...faults];
    this.#resolveAll();
    if (this.faults.length === 0) this.#checkTogether();
  }

  /**
   * Where a setting is fixed. The password of the mail server belongs to its host: otherwise an administrator could
   * have it sent to another host. So who sets one of them outside of the page sets the whole server there.
   */
  readonly fixedBy = (key: string): string | undefined => {
    const keys = MAIL_SERVER_KEYS.includes(key) ? [key, ...MAIL_SERVER_KEYS, ...MAIL_SERVER_SECRETS] : [key];
    return keys.map((one) => this.#firstGiven(one)?.source).find((source) => source !== undefined);
  };

  /** Determines every value. The preset and the scale come first: other defaults depend on them. */
  #resolveAll(): void {
    this.#resolve("preset", SETTINGS_BY_KEY.get("preset"), new Map(), 1);
    const preset = this.values.get("preset") === "household" ? householdDefaults() : new Map<string, unknown>();
    this.#resolve("rateLimitScale", SETTINGS_BY_KEY.get("rateLimitScale"), preset, 1);
    const scale = Number(this.values.get("rateLimitScale"));
    for (const [key, setting] of SETTINGS_BY_KEY) {
      if (!this.values.has(key)) this.#resolve(key, setting, preset, scale);
    }
  }

  #resolve(key: string, setting: AnySetting | undefined, preset: ReadonlyMap<string, unknown>, scale: number): void {
    if (setting === undefined) return;
    const given = this.#given.get(key) ?? [];
    const fallback = preset.has(key) ? preset.get(key) : setting.default;
    this.values.set(key, fallback);
    this.sources.set(key, preset.has(key) ? "preset household" : "default");
    if (given.length === 0 && isRateLimit(key) && typeof fallback === "number" && scale !== 1) {
      this.values.set(key, Math.min(Math.max(1, Math.round(fallback * scale)), Number.MAX_SAFE_INTEGER));
      this.sources.set(key, `default, rateLimitScale ${scale}`);
    }
    if (this.#stored.has(key) && isEditable(key) && this.fixedBy(key) === undefined) this.#parseStored(key, setting);
    // In reverse order, so that the first value stays. A bad value is a fault even if another one overrides it.
    for (const value of given.toReversed()) this.#parse(key, setting, value);
  }

  #parse(key: string, setting: AnySetting, { raw, directory, source }: GivenValue): void {
    try {
      this.values.set(key, setting.kind.parse(raw, directory));
      this.sources.set(key, source);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const given = setting.isSecret ? "" : `, not ${JSON.stringify(raw)}`;
      const name = source.includes(":") ? `${source}: "${key}"` : source;
      this.faults.push(`${name} ${error.message}${given}.`);
    }
  }

  #parseStored(key: string, setting: AnySetting): void {
    try {
      this.values.set(key, setting.kind.parse(this.#stored.get(key), ""));
      this.sources.set(key, STORED);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      this.problems.push({ key, text: say`${key} ${error.text}.` });
    }
  }

  /** The given value that applies; undefined if no source gives one. */
  #firstGiven(key: string): GivenValue | undefined {
    return this.#given.get(key)?.[0];
  }

  /** Checks values that depend on each other, makes paths absolute, and derives the base path. */
  #checkTogether(): void {
    const dataSource = this.#firstGiven("data");
    this.values.set("data", resolve(dataSource?.directory ?? this.#directory, String(this.values.get("data"))));
    for (const key of PATHS) {
      const path = this.values.get(key);
      if (typeof path === "string") this.values.set(key, resolve(path));
    }
    this.#checkAdmin();
    this.#checkMail();
    this.#checkListening();
    this.#checkReplica();
    const publicUrl = this.values.get("publicUrl");
    if (typeof publicUrl !== "string") return;
    const path = new URL(publicUrl).pathname.replace(/\/$/, "");
    if (this.#given.has("basePath") && path !== this.values.get("basePath")) {
      this.warnings.push(
        `publicUrl ends in "${path || "/"}" and basePath is "${String(this.values.get("basePath")) || "/"}". ` +
          "Links start with publicUrl. Make sure that the proxy forwards that path to basePath.",
      );
    }
    if (!this.#given.has("basePath") && path !== "") {
      this.faults.push(...this.#deriveBasePath(path));
    }
  }

  /** Uses the path of publicUrl as the base path. @returns faults */
  #deriveBasePath(path: string): string[] {
    try {
      this.values.set("basePath", SETTINGS.basePath.kind.parse(path, ""));
      this.sources.set("basePath", "publicUrl");
      return [];
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      return [`${this.sources.get("publicUrl")}: the path of publicUrl ${error.message}.`];
    }
  }

  #checkListening(): void {
    const has = (key: string) => this.values.get(key) !== null;
    if (has("tls.certFile") !== has("tls.keyFile")) {
      this.faults.push("tls.certFile and tls.keyFile must be set together. Set both or neither.");
    }
    if (has("tls.certFile") && has("socket")) {
      this.faults.push("socket and tls.certFile cannot be combined: with a Unix socket, the proxy handles TLS.");
    }
    if (has("tls.redirectPort") && !has("tls.certFile")) {
      this.faults.push("tls.redirectPort requires HTTPS. Set tls.certFile and tls.keyFile too.");
    }
  }

  #checkReplica(): void {
    const url = this.values.get("replica");
    const isStore = this.values.get("blobs.store") === "s3";
    if (this.values.get("blobs.acknowledge") === "bucket" && (!isStore || url === null)) {
      this.faults.push('blobs.acknowledge = "bucket" requires blobs.store = "s3" and a replica. Set both too.');
      return;
    }
    if (typeof url !== "string") return;
    if (!isStore) {
      this.faults.push(
        'replica requires blobs.store = "s3": a machine that takes over must be able to read the files. Set it and s3.*.',
      );
    }
    if (this.values.get("replica.keyFile") === null) {
      this.faults.push("replica requires replica.keyFile. To make the file, run: larder replica key FILE");
    }
    const { bucket, prefix } = parseReplicaUrl(url);
    if (
      bucket === this.values.get("s3.bucket") &&
      prefix.startsWith(`${String(this.values.get("s3.prefix"))}sha256/`)
    ) {
      this.faults.push("replica must not be among the files, in sha256/ after s3.prefix. Set another path.");
    }
  }

  #checkMail(): void {
    if (this.values.get("mail.verify") !== true || this.values.get("mail.host") !== null) return;
    const text = say`mail.verify requires an SMTP server to send confirmations. Set mail.host, or turn off mail.verify.`;
    if (this.sources.get("mail.verify") !== STORED) {
      this.faults.push(text.english);
      return;
    }
    this.values.set("mail.verify", SETTINGS.mail.verify.default);
    this.sources.set("mail.verify", "default");
    this.problems.push({ key: "mail.verify", text });
  }

  #checkAdmin(): void {
    const has = (key: string) => this.values.get(key) !== null;
    if (has("adminPassword") && has("adminPasswordFile")) {
      this.faults.push("adminPassword and adminPasswordFile are both set. Remove one of them.");
    }
    if (has("adminEmail") !== (has("adminPassword") || has("adminPasswordFile"))) {
      this.faults.push(
        "adminEmail requires a password (adminPassword or adminPasswordFile), and the other way round. Set both or neither.",
      );
    }
  }
}
