/**
 * Every setting, once: its key is its place in this table, and the names of its flag and its environment variable
 * follow from the key. `plans.free.limit.uploads` is `--plans-free-limit-uploads` and
 * `LARDER_PLANS_FREE_LIMIT_UPLOADS`.
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

/** The categories of requests. Each has its own count. */
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
      `Requests of category "${category}" allowed per ${category === "signin" ? "minute" : "hour"} for an account on the ${name} plan.`,
    );
  return {
    maxFileSize: size(maxFileSize, `Maximum file size on the ${name} plan.`),
    quota: sizeOrNone(quota, `Storage quota of an account on the ${name} plan.`),
    maxNodes: integerOrNone(maxNodes, `Maximum number of files and folders on the ${name} plan, including trash.`),
    devices: integerOrNone(devices, `Maximum number of registered phones on the ${name} plan.`),
    limit: perCategory(limit),
  };
}

/** The table. */
export const SETTINGS = {
  data: text("path", (path) => readPath(path, "."), "./data", "Data directory: holds the database, files, and keys."),
  host: text(
    "address",
    readHost,
    "127.0.0.1",
    "Address to listen on. 0.0.0.0 is all IPv4 addresses, :: all addresses.",
  ),
  port: integer(0, 65_535, 8790, "Port to listen on. 0 selects a free port."),
  socket: optionalText(
    "path",
    readPath,
    "Unix socket to listen on instead of an address and port, for a proxy on this machine. Created with mode 0660; every program that can connect to it is trusted as a proxy.",
  ),
  tls: {
    certFile: optionalText(
      "path",
      readPath,
      "TLS certificate with its chain (PEM). If set, the port serves HTTPS. Reloaded when the file changes.",
    ),
    keyFile: optionalText("path", readPath, "Private key of the TLS certificate (PEM, without a password)."),
    redirectPort: integerOrNone(null, "Port that redirects HTTP to HTTPS, usually 80.", 65_535, "none"),
  },
  basePath: text(
    "path",
    readBasePath,
    "",
    'Path prefix of all addresses, such as "/files". Works whether or not the proxy strips it.',
  ),
  publicUrl: optionalText(
    "URL",
    readPublicUrl,
    "Public address of this server, including the base path. Used for links; if not set, links use the scheme and Host of the request.",
  ),
  trustedProxies: list(
    "addresses or CIDR ranges",
    readNetwork,
    "Proxies whose X-Forwarded-* and Forwarded headers are trusted.",
  ),
  outboundAllow: list(
    "addresses or CIDR ranges, each with a port or without",
    readTarget,
    'Private addresses that webhooks and push notifications may be sent to, also over HTTP: "192.168.1.20:8080", "10.0.0.0/8", "[fd00::]/8:8080". Every account can send to them, so include a port where possible.',
  ),
  corsOrigins: list("origins", readOrigin, "Web origins that may call the API from a browser, without cookies."),
  preset: choice(
    ["spec", "household"],
    "spec",
    "Set of defaults. household: new accounts get the enterprise plan, sign-up requires an invite, and request limits are 100 times higher, except those for wrong passwords.",
  ),
  signup: choice(
    ["open", "invite", "closed"],
    "open",
    "Who can create an account: everyone (open), only people with an invite, or no one (closed).",
  ),
  defaultPlan: choice(PLANS, "free", "Plan of new accounts."),
  adminEmail: optionalText(
    "email",
    (value) => value,
    "Email of an administrator to create at startup if there is none yet. Requires adminPassword or adminPasswordFile.",
  ),
  adminPassword: optionalText("text", (value) => value, "Password of the administrator to create.", true),
  adminPasswordFile: optionalText("path", readPath, "File that contains the password of the administrator to create."),
  tokenLifetime: duration("1m", "365d", "24h", "How long a session token is valid without a refresh."),
  rateLimits: toggle(true, "Limit the number of requests. Attempts with wrong passwords are always limited."),
  rateLimitScale: factor(
    1,
    "Factor for all request limits that are not set explicitly, except those for wrong passwords.",
  ),
  plans: { free: plan("free"), pro: plan("pro"), enterprise: plan("enterprise") },
  minFreeSpace: sizeOrNone(
    "auto",
    "Disk space that uploads must leave free. auto is 2% of the disk, at least 8 MB and at most 512 MB.",
    "auto",
  ),
  maxConnections: integer(
    64,
    1_000_000,
    20_000,
    "Maximum number of open connections and files. Above it, or above three quarters of the open file limit, idle connections are closed.",
  ),
  maxRequests: integer(16, 1_000_000, 4096, "Maximum number of concurrent requests. More requests get status 503."),
  maxSlowBodies: integer(
    1,
    1_000_000,
    32,
    "Maximum number of requests from one address (IPv6: /64) whose form, JSON, or guest upload takes longer than one second to arrive. More requests get status 429.",
  ),
  verifyAfterWrite: toggle(false, "Read each new file back from the disk before the upload is confirmed."),
  audit: {
    keep: duration("1d", "3650d", "365d", "How long audit log entries are kept."),
    files: choice(
      ["off", "changes", "all"],
      "changes",
      "File events in the audit log: none (off), permanent deletions (changes), or also every upload, change, and download (all).",
    ),
  },
  versions: {
    keep: integer(
      0,
      1_000,
      10,
      "Minimum number of earlier versions kept of each file. Users can change it for their account.",
    ),
    maxAge: duration(
      "0s",
      "3650d",
      "30d",
      "Minimum time that earlier versions are kept. Also how far back history can be viewed and undone, at most 90 days.",
    ),
  },
  trash: {
    keep: duration("0s", "3650d", "30d", "How long items stay in trash before they are deleted permanently."),
  },
  snapshots: {
    every: duration(
      "1m",
      "1d",
      "10m",
      "Maximum time from a change to the next snapshot of the database. Snapshots of small databases are taken sooner: up to 1 MB within 20 seconds, up to 64 MB within one minute.",
    ),
    keep: duration(
      "1h",
      "365d",
      "7d",
      "How long snapshots are kept; older ones are thinned out. Blobs that a snapshot refers to are not removed.",
    ),
  },
  blobs: {
    store: choice(
      ["disk", "s3"],
      "disk",
      "Where file data is stored: on this disk, or in a bucket (s3.*) with this disk as a cache.",
    ),
  },
  s3: {
    endpoint: optionalText("URL", readService, "Address of the S3-compatible service, such as https://s3.example.org."),
    region: text("text", readRegion, "us-east-1", "Region of the bucket."),
    bucket: optionalText("text", readBucket, "Name of the bucket, which must exist."),
    prefix: text(
      "path",
      readPrefix,
      "",
      'Prefix of all object keys in the bucket, such as "larder/". Each server needs its own bucket or prefix.',
    ),
    accessKeyId: optionalText("text", (value) => value, "Access key ID."),
    secretAccessKey: optionalText("text", (value) => value, "Secret access key.", true),
    secretAccessKeyFile: optionalText("path", readPath, "File that contains the secret access key."),
    pathStyle: toggle(
      true,
      "Put the bucket name in the path of addresses. off puts it in the host name, the AWS style.",
    ),
    verifyRate: size(
      "20MB",
      "Maximum bytes per second read from the bucket by larder verify --bucket and the nightly scrub (s3.scrub).",
    ),
    scrub: toggle(
      false,
      "Also scrub blobs that are stored only in the bucket, within scrub.within. This causes traffic.",
    ),
    cache: size("10GB", "Maximum size of the local cache of the bucket. Least recently used files are evicted first."),
  },
  scrub: {
    rate: size("20MB", "Bytes per second that the nightly scrub reads to find damaged files. 0 turns the scrub off."),
    maxTime: duration("1m", "24h", "4h", "Maximum duration of the scrub per night."),
    within: duration(
      "0s",
      "3650d",
      "30d",
      "Time within which the scrub reads every stored byte, if necessary faster than scrub.rate. 0s reads everything each night.",
    ),
  },
  gcGrace: duration(
    "0s",
    "3650d",
    "7d",
    "Grace period: how long the data of deleted files stays on the disk before garbage collection removes it.",
  ),
  allowNetworkFilesystem: toggle(
    false,
    "Allow the database on NFS, SMB, or FUSE, where it can be damaged. File data (blobs) is always allowed there.",
  ),
  push: {
    vapidSubject: optionalText(
      "address (mailto: or https:)",
      readSubject,
      "Contact address for browser push services. If not set, publicUrl or adminEmail is used.",
    ),
    fcm: {
      serviceAccountFile: optionalText(
        "path",
        readPath,
        "Firebase service account key (JSON), for push notifications to Android apps over FCM.",
      ),
      endpoint: text("URL", readService, "https://fcm.googleapis.com", "Address of FCM, for a relay or for tests."),
    },
    apns: {
      keyFile: optionalText("path", readPath, "Apple signing key (.p8), for push notifications to iOS apps over APNs."),
      keyId: optionalText("text", readAppleId, "ID of the Apple signing key: ten letters and digits."),
      teamId: optionalText("text", readAppleId, "ID of the Apple developer team."),
      topic: optionalText("text", readTopic, "Bundle ID of the iOS app."),
      environment: choice(["production", "sandbox"], "production", "APNs environment of the app."),
      endpoint: optionalText(
        "URL",
        readService,
        "Address of APNs, for a relay or for tests. If not set, the address of the environment is used.",
      ),
    },
  },
  mail: {
    host: optionalText("address", readHost, "SMTP server for outgoing email. If not set, no email is sent."),
    port: integer(0, 65_535, 0, "Port of the SMTP server. 0 is 587 for starttls, 465 for tls, and 25 for none."),
    secure: choice(
      ["starttls", "tls", "none"],
      "starttls",
      "Encryption of the SMTP connection. Use none only on this machine or a trusted network; it cannot be combined with mail.user.",
    ),
    user: optionalText("text", (value) => value, "User name for the SMTP server, if it requires one."),
    password: optionalText("text", (value) => value, "Password for the SMTP server.", true),
    passwordFile: optionalText("path", readPath, "File that contains the password for the SMTP server."),
    caFile: optionalText(
      "path",
      readPath,
      "CA certificate (PEM) of the SMTP server, if it is not issued by a public CA.",
    ),
    from: optionalText(
      "mailbox",
      readMailbox,
      'Sender address of all email: "larder@example.org" or "Larder <larder@example.org>".',
    ),
    verify: toggle(
      false,
      "Require new users to confirm their email address before they can share or open shares sent to it. Turning this off opens all shares that wait for a confirmation.",
    ),
  },
  oidc: {
    issuer: optionalText(
      "URL",
      readIssuer,
      "OpenID Connect provider for single sign-on: the issuer exactly as in its discovery document.",
    ),
    clientId: optionalText("text", (value) => value, "Client ID of this server at the provider."),
    clientSecret: optionalText("text", (value) => value, "Client secret of this server at the provider.", true),
    clientSecretFile: optionalText("path", readPath, "File that contains the client secret."),
    name: text("text", readLabel, "Single sign-on", "Label of the single sign-on button."),
    scopes: text("words", readScopes, "openid profile email", "Scopes requested from the provider."),
    autoCreate: toggle(
      false,
      "Create an account for every user who signs in through the provider, regardless of signup. If off, only linked accounts can sign in.",
    ),
    linkByEmail: toggle(
      false,
      "Link an existing account at the first single sign-on with the same verified email. Use this only if all email addresses on this server are known to be correct; see the security guide.",
    ),
    trustEmail: toggle(
      false,
      "Treat email addresses from the provider as verified even if the provider does not say so.",
    ),
    allowedDomains: list(
      "domains",
      readDomain,
      "Email domains allowed to sign in through the provider. none allows all.",
    ),
    adminGroup: optionalText(
      "text",
      (value) => value,
      'Members of this group (claim "groups") become administrators at sign-in; non-members lose the role.',
    ),
  },
  massChangeFiles: integer(
    1,
    1_000_000_000,
    100,
    "If a device deletes or replaces more files than this within ten minutes, and more than massChangePercent of all files, the user must confirm the changes.",
  ),
  massChangePercent: integer(
    0,
    100,
    25,
    "Percentage of all files that triggers a confirmation together with massChangeFiles.",
  ),
  thumbnails: {
    enabled: toggle(true, "Create thumbnails."),
    concurrency: integer(1, 16, 2, "Number of thumbnails created concurrently."),
    timeout: duration("1s", "10m", "30s", "Maximum time to create one thumbnail."),
    memoryLimit: size("768MB", "Memory limit of the thumbnail process; above it, the process is stopped."),
  },
  nativeDir: optionalText(
    "path",
    readPath,
    "Directory to which the executable extracts its native libraries, if the data directory is mounted noexec.",
  ),
  libvips: optionalText("path", readPath, "Path of a libvips-cpp library to use instead of the embedded one."),
  metricsAccess: choice(
    ["local", "admin", "open"],
    "local",
    "Who can read /metrics: this machine and administrator API keys (local), only administrator API keys (admin), or everyone (open).",
  ),
  log: choice(
    ["auto", "pretty", "json"],
    "auto",
    "Log format on standard error: readable text (pretty; in color on a terminal unless NO_COLOR is set), JSON lines, or auto, which selects pretty on a terminal. With json, lines on standard output are JSON too.",
  ),
  logRequests: choice(
    ["off", "errors", "all"],
    "errors",
    "Requests to log: none (off), server errors and requests longer than 10 seconds (errors), or all. Log lines of a request include its ID.",
  ),
  logLevel: choice(["debug", "info", "warn", "error"], "info", "Minimum level of log lines."),
};

/**
 * Settings that had another name, or are gone, and what to use now: they keep working, with a warning.
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

/** A setting of any type. */
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
 * Values of the household preset by key, in place of the defaults. A value that is set explicitly still wins. The
 * limits of requests follow from `rateLimitScale`.
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
  if (!isPath)
    throw new BadValue('must be a path such as "/files" with only letters, digits, ".", "_", "~", "-", and "/"');
  return plain;
}

function readPublicUrl(address: string): string {
  const url = URL.parse(address);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === null || !isWeb) throw new BadValue('must be a full URL such as "https://files.example.org"');
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw new BadValue("must not have a query, a fragment, or credentials");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function readSubject(address: string): string {
  const url = URL.parse(address);
  const isSubject =
    url?.protocol === "https:" || (url?.protocol === "mailto:" && /^[^@\s<>]+@[^@\s<>]+$/.test(url.pathname));
  if (!isSubject) throw new BadValue('must be a URL such as "mailto:you@example.org" or "https://example.org"');
  return address;
}

/** The address of a service that the operator chose: with a host, and nothing after the path. */
function readService(address: string): string {
  const url = URL.parse(address);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === null || !isWeb) throw new BadValue('must be a full URL such as "https://push.example.org"');
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw new BadValue("must not have a query, a fragment, or credentials");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function readRegion(region: string): string {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(region)) throw new BadValue('must be a region such as "eu-central-1"');
  return region;
}

function readBucket(bucket: string): string {
  const isBucket = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket);
  if (!isBucket) throw new BadValue('must be 3 to 63 letters, digits, ".", "_", or "-"');
  return bucket;
}

function readPrefix(prefix: string): string {
  const plain = prefix.replace(/\/+$/, "");
  if (plain === "") return "";
  const isPrefix = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/.test(plain) && plain.length <= 200;
  if (!isPrefix)
    throw new BadValue('must be a path such as "larder/home" with only letters, digits, ".", "_", "-", and "/"');
  return `${plain}/`;
}

function readMailbox(mailbox: string): string {
  const isMailbox = /^(?:[^<>@"\p{Cc}]{1,100}<)?[^\s@<>()",;:\\]{1,64}@[A-Za-z0-9.-]{1,253}>?$/u.test(mailbox);
  if (!isMailbox || mailbox.includes("<") !== mailbox.endsWith(">")) {
    throw new BadValue('must be an email address, with or without a name: "Larder <larder@example.org>"');
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
  if (!words.includes("openid")) throw new BadValue('must be words separated by spaces, including "openid"');
  return words.join(" ");
}

function readDomain(domain: string): string {
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(domain)) throw new BadValue('must be domains such as "example.org"');
  return domain.toLowerCase();
}

function readAppleId(id: string): string {
  if (!/^[A-Z0-9]{10}$/.test(id)) throw new BadValue("must be ten capital letters and digits, as shown by Apple");
  return id;
}

function readTopic(topic: string): string {
  if (!/^[A-Za-z0-9.-]{1,255}$/.test(topic)) throw new BadValue('must be a bundle ID such as "org.example.app"');
  return topic;
}

function readOrigin(address: string): string {
  const url = URL.parse(address);
  const isOrigin = url !== null && url.origin !== "null" && url.origin === address.replace(/\/$/, "").toLowerCase();
  if (!isOrigin) throw new BadValue(`must be origins such as "https://photos.example.org", not "${address}"`);
  return url.origin;
}

function readTarget(entry: string): string {
  let parts: ReturnType<typeof splitPort>;
  try {
    parts = splitPort(entry);
  } catch (error) {
    throw new BadValue(error instanceof Error ? `is not valid: ${error.message}` : String(error));
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
    // The message says what was given and what is expected. The library's own message adds nothing.
    if (error instanceof Error)
      throw new BadValue(`must be addresses such as "192.168.1.2" or "10.0.0.0/8", not "${network}"`);
    throw error;
  }
}
