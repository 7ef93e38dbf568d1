/**
 * Every setting, once: its key is its place in this table, and the names of its flag and its environment variable follow
 * from the key. `plans.free.limit.uploads` is `--plans-free-limit-uploads` and `LARDER_PLANS_FREE_LIMIT_UPLOADS`.
 */
import ipaddr from "ipaddr.js";
import { splitPort } from "../lib/allowed-targets.ts";
import {
  BadValue,
  choice,
  duration,
  factor,
  integer,
  integerOrNone,
  list,
  optionalText,
  readPath,
  Setting,
  size,
  sizeOrNone,
  text,
  toggle,
  type Unit,
} from "./setting.ts";

/** The kinds of request that are counted, each by itself (contract §3). */
export const RATE_CATEGORIES = [
  "signin",
  "signup",
  "refresh",
  "uploads",
  "downloads",
  "listing",
  "operations",
  "profile",
  "usage",
  "sync",
  "general",
] as const;

/** One of {@link RATE_CATEGORIES}. */
export type RateCategory = (typeof RATE_CATEGORIES)[number];

/** The plans, smallest first. */
export const PLANS = ["free", "pro", "enterprise"] as const;

/** Something for each of {@link RATE_CATEGORIES}. */
export function perCategory<T>(make: (category: RateCategory) => T): Record<RateCategory, T> {
  const entries = RATE_CATEGORIES.map((category) => [category, make(category)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are the categories, all of them
  return Object.fromEntries(entries) as Record<RateCategory, T>;
}

/** Requests per window by category: a category without a number does not compile. Null is no limit. */
type CategoryLimits = Readonly<Record<RateCategory, number | null>>;

const FREE_LIMITS: CategoryLimits = {
  signin: 5,
  signup: 3,
  refresh: 10,
  uploads: 10,
  downloads: 50,
  listing: 100,
  operations: 50,
  profile: 100,
  usage: 50,
  sync: 200,
  general: 1000,
};

const PRO_LIMITS: CategoryLimits = {
  signin: 10,
  signup: 5,
  refresh: 50,
  uploads: 100,
  downloads: 500,
  listing: 1000,
  operations: 500,
  profile: 1000,
  usage: 500,
  sync: 2000,
  general: 10_000,
};

const ENTERPRISE_LIMITS: CategoryLimits = {
  signin: 20,
  signup: 10,
  refresh: 100,
  uploads: 1000,
  downloads: null,
  listing: 10_000,
  operations: 5000,
  profile: 10_000,
  usage: 5000,
  sync: 20_000,
  general: 100_000,
};

/** What each plan has by default. */
const PLAN_DEFAULTS = {
  free: { maxFileSize: "10MB", quota: "5GB", maxNodes: 200_000, devices: 3, limits: FREE_LIMITS },
  pro: { maxFileSize: "100MB", quota: "100GB", maxNodes: 2_000_000, devices: 10, limits: PRO_LIMITS },
  enterprise: { maxFileSize: "1GB", quota: "none", maxNodes: 10_000_000, devices: null, limits: ENTERPRISE_LIMITS },
};

function plan(name: keyof typeof PLAN_DEFAULTS) {
  const { maxFileSize, quota, maxNodes, devices, limits } = PLAN_DEFAULTS[name];
  const limit = (category: RateCategory) =>
    integerOrNone(
      limits[category],
      `Requests of the kind "${category}" that an account on ${name} may make per ${category === "signin" ? "minute" : "hour"}.`,
    );
  return {
    maxFileSize: size(maxFileSize, `Largest file of an account on ${name}.`),
    quota: sizeOrNone(quota, `Bytes that an account on ${name} may hold in all.`),
    maxNodes: integerOrNone(maxNodes, `Files and folders that an account on ${name} may hold, the trash included.`),
    devices: integerOrNone(devices, `Phones that an account on ${name} may register.`),
    limit: perCategory(limit),
  };
}

/** The table. */
export const SETTINGS = {
  data: text("path", (path) => readPath(path, "."), "./data", "Directory in which everything is kept."),
  host: text("address", readHost, "127.0.0.1", "Address to listen on; 0.0.0.0 is every IPv4 address, :: every one."),
  port: integer(0, 65_535, 8790, "Port to listen on; 0 picks a free one."),
  socket: optionalText(
    "path",
    readPath,
    "Unix socket to listen on in place of address and port, for a proxy on this machine (mode 0660). Whoever may connect to it is believed as a trusted proxy.",
  ),
  tls: {
    certFile: optionalText(
      "path",
      readPath,
      "Certificate (PEM, with its chain): the port then speaks HTTPS. Read again when it changes.",
    ),
    keyFile: optionalText("path", readPath, "Key of that certificate (PEM, without a password)."),
    redirectPort: integerOrNone(null, "Port on which plain HTTP is led to HTTPS, usually 80.", 65_535, "none"),
  },
  basePath: text(
    "path",
    readBasePath,
    "",
    'Path below which everything is served, such as "/files", whether or not the proxy strips it.',
  ),
  publicUrl: optionalText(
    "URL",
    readPublicUrl,
    "Address under which people reach this server, base path included. Links in answers start with it; without it, with the request's own scheme and Host.",
  ),
  trustedProxies: list(
    "addresses or CIDR ranges",
    readNetwork,
    "Proxies whose X-Forwarded-* and Forwarded headers are believed.",
  ),
  outboundAllow: list(
    "addresses or CIDR ranges, each with a port or without",
    readTarget,
    'Private addresses that webhooks and push messages may be sent to, also by http: "192.168.1.20:8080", "10.0.0.0/8", "[fd00::]/8:8080". Every account may send to them; give a port where you can.',
  ),
  corsOrigins: list("origins", readOrigin, "Web origins whose pages may call the API (without cookies)."),
  preset: choice(
    ["spec", "household"],
    "spec",
    "Starting point of the other settings. household: new accounts on enterprise, limits of requests times 100 (except those for wrong passwords), sign-up by invite.",
  ),
  signup: choice(
    ["open", "invite", "closed"],
    "open",
    "Who may make an account: everybody, whoever has an invite, nobody.",
  ),
  defaultPlan: choice(PLANS, "free", "Plan of a new account."),
  adminEmail: optionalText(
    "e-mail",
    (value) => value,
    "Makes this administrator at start, with the password below, while there is no administrator.",
  ),
  adminPassword: optionalText("text", (value) => value, "Password of that administrator.", true),
  adminPasswordFile: optionalText("path", readPath, "File that holds the password of that administrator."),
  tokenLifetime: duration("1m", "365d", "24h", "How long a sign-in lasts without being refreshed."),
  rateLimits: toggle(true, "Whether requests are limited. Wrong passwords always are."),
  rateLimitScale: factor(
    1,
    "Multiplies every limit of requests that isn't set explicitly, except those for wrong passwords.",
  ),
  plans: { free: plan("free"), pro: plan("pro"), enterprise: plan("enterprise") },
  minFreeSpace: sizeOrNone(
    "auto",
    "Room that uploads leave free on the disk; auto is 2 % of it, at least 8 MB and at most 512 MB.",
    "auto",
  ),
  maxConnections: integer(
    64,
    1_000_000,
    20_000,
    "Connections and files open side by side; above it, or above three quarters of the limit of open files, connections that ask for nothing are closed.",
  ),
  maxRequests: integer(16, 1_000_000, 4096, "Requests served side by side; what comes on top is answered 503."),
  maxSlowBodies: integer(
    1,
    1_000_000,
    32,
    "Requests of one address (IPv6: /64) that may wait longer than a second for a form, JSON or a guest's file; more get 429.",
  ),
  verifyAfterWrite: toggle(false, "Whether each new content is read back from the disk before it is acknowledged."),
  audit: {
    keep: duration("1d", "3650d", "365d", "How long the audit log remembers who did what."),
    files: choice(
      ["off", "changes", "all"],
      "changes",
      "What of files goes into the audit log: nothing, what deletes for good, or every upload, change and download too.",
    ),
  },
  versions: {
    keep: integer(
      0,
      1_000,
      10,
      "How many earlier contents of a file are kept at least; users may choose for themselves.",
    ),
    maxAge: duration(
      "0s",
      "3650d",
      "30d",
      "How long a replaced content is kept in any case, and how far back (90 days at most) one may look.",
    ),
  },
  trash: {
    keep: duration("0s", "3650d", "30d", "How long what was put into the trash is kept before it is deleted for good."),
  },
  snapshots: {
    every: duration(
      "1m",
      "1d",
      "10m",
      "Maximum time from a change to the next copy of the database. Small databases are copied sooner: up to 1 MB within 20 seconds, up to 64 MB within a minute.",
    ),
    keep: duration(
      "1h",
      "365d",
      "7d",
      "How long such copies are kept, the older the fewer; what they name stays in the store.",
    ),
  },
  blobs: {
    store: choice(
      ["disk", "s3"],
      "disk",
      "Where contents end: on this disk, or in a bucket (s3.*), with this disk before it.",
    ),
  },
  s3: {
    endpoint: optionalText("URL", readService, "Address of an S3-compatible service: https://s3.example.org."),
    region: text("text", readRegion, "us-east-1", "Region that requests are signed for."),
    bucket: optionalText("text", readBucket, "The bucket, which must exist."),
    prefix: text(
      "path",
      readPrefix,
      "",
      'What the keys in it begin with, such as "larder/"; each Larder has a bucket or a prefix of its own.',
    ),
    accessKeyId: optionalText("text", (value) => value, "Who signs the requests."),
    secretAccessKey: optionalText("text", (value) => value, "The key to sign with.", true),
    secretAccessKeyFile: optionalText("path", readPath, "File that holds that key."),
    pathStyle: toggle(true, "Whether the bucket stands in the path of addresses; off: in the host name (AWS)."),
    verifyRate: size(
      "20MB",
      "Maximum read rate from the bucket per second: for larder verify --bucket, and for the nightly reading (s3.scrub).",
    ),
    scrub: toggle(
      false,
      "Whether contents stored only in the bucket are read again at night, within scrub.within; this causes traffic.",
    ),
    cache: size("10GB", "Room on this disk for contents that the bucket has too; what was used last stays."),
  },
  scrub: {
    rate: size("20MB", "How much of the stored contents is read again in a second, at night, to find damage; 0: none."),
    maxTime: duration("1m", "24h", "4h", "How long that goes on in one night."),
    within: duration(
      "0s",
      "3650d",
      "30d",
      "Within which time every byte is read again, if need be faster than scrub.rate; 0s: all of them each night.",
    ),
  },
  gcGrace: duration("0s", "3650d", "7d", "How long the bytes of deleted files stay in the store, for the operator."),
  allowNetworkFilesystem: toggle(
    false,
    "Whether the database may lie on NFS, SMB or FUSE. It may break there; contents (blobs) may lie there anyway.",
  ),
  push: {
    vapidSubject: optionalText(
      "mailto: or https: address",
      readSubject,
      "Whom the push services of browsers may turn to; publicUrl or adminEmail where it isn't set.",
    ),
    fcm: {
      serviceAccountFile: optionalText(
        "path",
        readPath,
        "Key of a Firebase service account (JSON), to reach Android apps by FCM.",
      ),
      endpoint: text("URL", readService, "https://fcm.googleapis.com", "Address of FCM, for a relay or a trial."),
    },
    apns: {
      keyFile: optionalText("path", readPath, "Signing key of Apple (.p8), to reach iOS apps by APNs."),
      keyId: optionalText("text", readAppleId, "Id of that key: ten letters and digits."),
      teamId: optionalText("text", readAppleId, "Id of the developer team that the key belongs to."),
      topic: optionalText("text", readTopic, "Bundle id of the app."),
      environment: choice(["production", "sandbox"], "production", "Which of Apple's two push services the app uses."),
      endpoint: optionalText(
        "URL",
        readService,
        "Address of APNs in place of the environment's, for a relay or a trial.",
      ),
    },
  },
  mail: {
    host: optionalText("address", readHost, "Mail server (SMTP) by which mails leave; without it none are sent."),
    port: integer(0, 65_535, 0, "Its port; 0 is 587 for starttls, 465 for tls, 25 for none."),
    secure: choice(
      ["starttls", "tls", "none"],
      "starttls",
      "How the connection is encrypted; none only where it stays on this machine or in a network of your own, and without a user.",
    ),
    user: optionalText("text", (value) => value, "Name by which to sign in there, where it asks for one."),
    password: optionalText("text", (value) => value, "Password of that user.", true),
    passwordFile: optionalText("path", readPath, "File that holds the password of that user."),
    caFile: optionalText(
      "path",
      readPath,
      "Certificate (PEM) that vouches for the mail server, where no public authority does.",
    ),
    from: optionalText(
      "mailbox",
      readMailbox,
      'Sender of all mails: "larder@example.org" or "Larder <larder@example.org>".',
    ),
    verify: toggle(
      false,
      "Whether a new account must confirm its e-mail by a link before it shares, and before it opens shares for that e-mail. Switching it off opens the shares that wait for unconfirmed e-mails.",
    ),
  },
  oidc: {
    issuer: optionalText(
      "URL",
      readIssuer,
      "OpenID Connect provider by which people may sign in: its issuer, as its discovery document names it.",
    ),
    clientId: optionalText("text", (value) => value, "Id of this server at the provider."),
    clientSecret: optionalText("text", (value) => value, "Secret of this server at the provider.", true),
    clientSecretFile: optionalText("path", readPath, "File that holds that secret."),
    name: text("text", readLabel, "Single sign-on", "What the button says that leads to the provider."),
    scopes: text("words", readScopes, "openid profile email", "What is asked of the provider."),
    autoCreate: toggle(
      false,
      "Whether whoever the provider signs in gets an account, whatever signup says; else only accounts that are linked may come.",
    ),
    linkByEmail: toggle(
      false,
      "Whether an account is linked to the provider's user with the same verified e-mail at their first sign-in. Only where every e-mail here is known to be its owner's: see Security.",
    ),
    trustEmail: toggle(false, "Whether e-mails of the provider count as verified though it doesn't say so."),
    allowedDomains: list(
      "domains",
      readDomain,
      "Only e-mails of these domains may sign in by the provider; none: all.",
    ),
    adminGroup: optionalText(
      "text",
      (value) => value,
      'Who is in this group (claim "groups") administers this server; who is not, and signs in by the provider, does not.',
    ),
  },
  massChangeFiles: integer(
    1,
    1_000_000_000,
    100,
    "A device that deletes or replaces more files than this within ten minutes, and more than massChangePercent of all, must be confirmed.",
  ),
  massChangePercent: integer(0, 100, 25, "Share of all files, in percent, that goes with massChangeFiles."),
  thumbnails: {
    enabled: toggle(true, "Whether thumbnails are made."),
    concurrency: integer(1, 16, 2, "How many pictures are worked on side by side."),
    timeout: duration("1s", "10m", "30s", "Time after which one picture is given up."),
    memoryLimit: size("768MB", "Memory above which the thumbnail process is ended."),
  },
  nativeDir: optionalText(
    "path",
    readPath,
    "Where the native libraries of the executable are unpacked, for a data directory mounted noexec.",
  ),
  libvips: optionalText("path", readPath, "A libvips-cpp library to use in place of the embedded one."),
  metricsAccess: choice(
    ["local", "admin", "open"],
    "local",
    "Who may read /metrics: an administrator's key or this machine itself; the key alone; everybody.",
  ),
  log: choice(
    ["auto", "pretty", "json"],
    "auto",
    "Form of the log lines on standard error: for people (in colours at a terminal, unless NO_COLOR is set), for programs, or chosen by whether it is a terminal. With json every line on standard output is JSON, too.",
  ),
  logRequests: choice(
    ["off", "errors", "all"],
    "errors",
    "Which requests are lines of the log: none, those that failed in the server or took over 10 s, or all; then what is written for one carries its id.",
  ),
  logLevel: choice(["debug", "info", "warn", "error"], "info", "Lines below this level are not written."),
};

/**
 * Settings that had another name, or are gone, and what to use now: they keep working, with a warning (D44).
 * Key: the old key. Value: the new key, or null where nothing takes its place.
 */
export const RENAMED: Readonly<Record<string, string | null>> = {};

/** Variables that begin with LARDER_ and are no settings: of the tests, the bench and the build. */
export const FOREIGN_VARIABLES = /^LARDER_(TEST|BENCH|BUILD)_/;

type FieldName<K extends string, S> = S extends Setting<infer _V, infer U extends Unit> ? `${K}${U}` : K;

type ConfigOf<T> = {
  readonly [K in keyof T & string as FieldName<K, T[K]>]: T[K] extends Setting<infer V, infer _U extends Unit>
    ? V
    : ConfigOf<T[K]>;
};

/**
 * The effective configuration, frozen. Fields are named as the settings, with the unit last: `gcGrace` is `gcGraceMs`,
 * `plans.free.quota` is `plans.free.quotaBytes`. Null: no limit, or not set. Paths are absolute. The rate limits are
 * final: scale and preset are in them already.
 */
export type Config = ConfigOf<typeof SETTINGS>;

/** What holds for the accounts of one plan. */
export type PlanConfig = Config["plans"]["free"];

/** A setting of whatever type. */
export type AnySetting = Setting<unknown, Unit>;

/** All settings by their whole key, in the order of the table. */
export const SETTINGS_BY_KEY: ReadonlyMap<string, AnySetting> = new Map(flatten(SETTINGS, ""));

/** Name of the environment variable of a setting: `LARDER_BASE_PATH` for `basePath`. */
export function environmentName(key: string): string {
  return `LARDER_${words(key).join("_").toUpperCase()}`;
}

/** Name of the flag of a setting: `--base-path` for `basePath`. */
export function flagName(key: string): string {
  return `--${words(key).join("-")}`;
}

/** The field of {@link Config} under its group: `gcGraceMs` for `gcGrace`. */
export function fieldName(key: string, setting: AnySetting): string {
  return `${key.slice(key.lastIndexOf(".") + 1)}${setting.unit}`;
}

/**
 * What the household preset puts in the place of the defaults, by key; whatever is set by itself still wins.
 * The limits of requests follow from `rateLimitScale`.
 */
export function householdDefaults(): Map<string, unknown> {
  const changed = new Map<string, unknown>([
    ["defaultPlan", "enterprise"],
    ["signup", "invite"],
    ["rateLimitScale", 100],
  ]);
  for (const [key, setting] of SETTINGS_BY_KEY) {
    const isPlanLimit = /^plans\.\w+\.(maxFileSize|devices)$/.test(key);
    if (isPlanLimit && typeof setting.default === "number") changed.set(key, setting.default * 100);
  }
  return changed;
}

/** Whether a setting is a limit of requests, which `rateLimitScale` multiplies. */
export function isRateLimit(key: string): boolean {
  return /^plans\.\w+\.limit\.\w+$/.test(key);
}

function* flatten(group: object, prefix: string): Generator<[string, AnySetting]> {
  for (const [name, entry] of Object.entries(group)) {
    if (entry instanceof Setting) yield [prefix + name, entry];
    else yield* flatten(entry, `${prefix}${name}.`);
  }
}

function words(key: string): string[] {
  return key.split(".").flatMap((part) => part.split(/(?=[A-Z])/).map((word) => word.toLowerCase()));
}

function readHost(host: string): string {
  const plain = host.replace(/^\[(.*)\]$/, "$1");
  const isName = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(plain);
  if (!isName && !ipaddr.isValid(plain)) throw new BadValue("must be an IP address or a host name");
  return plain;
}

function readBasePath(path: string): string {
  const plain = path.replace(/\/+$/, "");
  if (plain === "") return "";
  const isPath = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(plain);
  if (!isPath) throw new BadValue('must be a path such as "/files": letters, digits, ".", "_", "~", "-" and "/"');
  return plain;
}

function readPublicUrl(address: string): string {
  const url = URL.parse(address);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === null || !isWeb) throw new BadValue('must be a whole address such as "https://files.example.org"');
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw new BadValue("must have no query, no fragment and no credentials");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function readSubject(address: string): string {
  const url = URL.parse(address);
  const isSubject =
    url?.protocol === "https:" || (url?.protocol === "mailto:" && /^[^@\s<>]+@[^@\s<>]+$/.test(url.pathname));
  if (!isSubject) throw new BadValue('must be an address such as "mailto:you@example.org" or "https://example.org"');
  return address;
}

/** The address of a service that the operator chose: with a host, and nothing after the path. */
function readService(address: string): string {
  const url = URL.parse(address);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === null || !isWeb) throw new BadValue('must be a whole address such as "https://push.example.org"');
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw new BadValue("must have no query, no fragment and no credentials");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function readRegion(region: string): string {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(region)) throw new BadValue('must be a region such as "eu-central-1"');
  return region;
}

function readBucket(bucket: string): string {
  const isBucket = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket);
  if (!isBucket) throw new BadValue('must be 3 to 63 letters, digits, ".", "_" or "-"');
  return bucket;
}

function readPrefix(prefix: string): string {
  const plain = prefix.replace(/\/+$/, "");
  if (plain === "") return "";
  const isPrefix = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/.test(plain) && plain.length <= 200;
  if (!isPrefix) throw new BadValue('must be a path such as "larder/home": letters, digits, ".", "_", "-" and "/"');
  return `${plain}/`;
}

function readMailbox(mailbox: string): string {
  const isMailbox = /^(?:[^<>@"\p{Cc}]{1,100}<)?[^\s@<>()",;:\\]{1,64}@[A-Za-z0-9.-]{1,253}>?$/u.test(mailbox);
  if (!isMailbox || mailbox.includes("<") !== mailbox.endsWith(">")) {
    throw new BadValue('must be an e-mail address, or a name and one: "Larder <larder@example.org>"');
  }
  return mailbox;
}

/** An issuer is compared letter by letter: a slash at its end belongs to it (OpenID Connect Discovery 1.0, §4.3). */
function readIssuer(address: string): string {
  readService(address);
  return address;
}

function readLabel(label: string): string {
  if (!/^\P{Cc}{1,80}$/u.test(label)) throw new BadValue("must be 1 to 80 characters on one line");
  return label;
}

function readScopes(scopes: string): string {
  const words = scopes.split(/\s+/).filter((word) => word !== "");
  if (!words.includes("openid")) throw new BadValue('must be words with a space between, and "openid" among them');
  return words.join(" ");
}

function readDomain(domain: string): string {
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(domain)) throw new BadValue('must be domains such as "example.org"');
  return domain.toLowerCase();
}

function readAppleId(id: string): string {
  if (!/^[A-Z0-9]{10}$/.test(id)) throw new BadValue("must be ten capital letters and digits, as Apple shows it");
  return id;
}

function readTopic(topic: string): string {
  if (!/^[A-Za-z0-9.-]{1,255}$/.test(topic)) throw new BadValue('must be a bundle id such as "org.example.app"');
  return topic;
}

function readOrigin(address: string): string {
  const url = URL.parse(address);
  const isOrigin = url !== null && url.origin !== "null" && url.origin === address.replace(/\/$/, "").toLowerCase();
  if (!isOrigin) throw new BadValue(`must be origins such as "https://photos.example.org", which "${address}" is not`);
  return url.origin;
}

function readTarget(entry: string): string {
  let parts: ReturnType<typeof splitPort>;
  try {
    parts = splitPort(entry);
  } catch (error) {
    throw new BadValue(error instanceof Error ? `is not accepted: ${error.message}` : String(error));
  }
  const network = readNetwork(parts.network);
  if (parts.port === undefined) return network;
  return `${network.includes(":") ? network.replace(/^(.*)(\/\d+)$/, "[$1]$2") : network}:${parts.port}`;
}

function readNetwork(network: string): string {
  try {
    if (network.includes("/")) {
      const [address, bits] = ipaddr.parseCIDR(network);
      return `${address.toString()}/${bits}`;
    }
    const address = ipaddr.parse(network);
    return `${address.toString()}/${address.kind() === "ipv4" ? 32 : 128}`;
  } catch (error) {
    // The library's own words add nothing: what was given and what is wanted is told.
    if (error instanceof Error)
      throw new BadValue(`must be addresses such as "192.168.1.2" or "10.0.0.0/8", which "${network}" is not`);
    throw error;
  }
}
