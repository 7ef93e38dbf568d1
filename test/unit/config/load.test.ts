import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConfigInput, type LoadedConfig, loadConfig } from "../../../src/config/load.ts";
import { ConfigError } from "../../../src/config/startup-error.ts";
import { environmentName, flagName, SETTINGS_BY_KEY } from "../../../src/config/settings.ts";
import { RATE_CATEGORIES } from "../../../src/config/settings/plans.ts";

const root = mkdtempSync(join(tmpdir(), "larder-config-"));
const data = join(root, "data");

beforeEach(() => {
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data);
});
afterAll(() => rmSync(root, { recursive: true }));

function load(input: {
  env?: Record<string, string>;
  toml?: string;
  flags?: Record<string, string>;
  file?: string;
}): LoadedConfig {
  if (input.toml !== undefined) writeFileSync(join(data, "larder.toml"), input.toml);
  const given: ConfigInput = {
    environment: { LARDER_DATA: data, ...input.env },
    flags: input.flags ?? {},
    file: input.file,
    directory: root,
  };
  return loadConfig(given);
}

function faults(input: Parameters<typeof load>[0]): string {
  try {
    load(input);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return "no fault";
}

describe("the defaults", () => {
  test("are those of the contract", () => {
    const { config } = loadConfig({ environment: {}, directory: root });
    expect(config).toMatchObject({
      data: join(root, "data"),
      host: "127.0.0.1",
      port: 8790,
      basePath: "",
      preset: "spec",
      defaultPlan: "free",
      signup: "open",
      publicUrl: null,
      trustedProxies: [],
      rateLimits: true,
      tokenLifetimeMs: 86_400_000,
      gcGraceMs: 604_800_000,
      minFreeSpaceBytes: null,
      log: "auto",
    });
  });

  test("of the plans are the tables of the API", () => {
    const { plans } = load({}).config;
    expect(plans.free).toEqual({
      maxFileSizeBytes: 10_485_760,
      quotaBytes: 5 * 2 ** 30,
      maxNodes: 200_000,
      devices: 3,
      limit: {
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
        dav: 5000,
        general: 1000,
      },
    });
    expect(RATE_CATEGORIES.map((category) => plans.pro.limit[category])).toEqual([
      10, 5, 50, 100, 500, 1000, 500, 1000, 500, 2000, 50_000, 10_000,
    ]);
    expect(RATE_CATEGORIES.map((category) => plans.enterprise.limit[category])).toEqual([
      20,
      10,
      100,
      1000,
      null,
      10_000,
      5000,
      10_000,
      5000,
      20_000,
      500_000,
      100_000,
    ]);
    expect([plans.enterprise.maxFileSizeBytes, plans.enterprise.quotaBytes, plans.enterprise.devices]).toEqual([
      2 ** 30,
      null,
      null,
    ]);
  });
});

describe("names", () => {
  test("of variables and flags follow from the key", () => {
    expect(environmentName("plans.free.limit.uploads")).toBe("LARDER_PLANS_FREE_LIMIT_UPLOADS");
    expect(environmentName("plans.pro.maxFileSize")).toBe("LARDER_PLANS_PRO_MAX_FILE_SIZE");
    expect(environmentName("publicUrl")).toBe("LARDER_PUBLIC_URL");
    expect(flagName("basePath")).toBe("--base-path");
  });

  test("are never the same for two settings", () => {
    const keys = [...SETTINGS_BY_KEY.keys()];
    expect(new Set(keys.map(environmentName)).size).toBe(keys.length);
    expect(new Set(keys.map(flagName)).size).toBe(keys.length);
  });
});

describe("of several values", () => {
  test("the flag wins over the environment, that over the file, that over the default, and each source is shown", () => {
    const toml = 'port = 1\nhost = "::1"\nsignup = "closed"\n';
    const { config, sources } = load({
      toml,
      env: { LARDER_PORT: "2", LARDER_SIGNUP: "invite" },
      flags: { port: "3" },
    });
    expect([config.port, config.signup, config.host, config.defaultPlan]).toEqual([3, "invite", "::1", "free"]);
    expect(["port", "signup", "host", "defaultPlan"].map((key) => sources.get(key))).toEqual([
      "--port",
      "LARDER_SIGNUP",
      `${data}/larder.toml:2`,
      "default",
    ]);
  });

  test("an empty variable counts as none", () => {
    expect(load({ env: { LARDER_PORT: "" } }).config.port).toBe(8790);
  });
});

describe("the file", () => {
  test("may be named by --config or LARDER_CONFIG, and its relative paths start from it", () => {
    mkdirSync(join(root, "etc"), { recursive: true });
    writeFileSync(join(root, "etc/own.toml"), 'data = "../elsewhere"\nlibvips = "lib/vips.so"\n');
    const byFlag = loadConfig({ environment: {}, file: "etc/own.toml", directory: root });
    const byVariable = loadConfig({ environment: { LARDER_CONFIG: join(root, "etc/own.toml") }, directory: root });
    expect(byFlag.config.data).toBe(join(root, "elsewhere"));
    expect(byFlag.config.libvips).toBe(join(root, "etc/lib/vips.so"));
    expect(byVariable.config).toEqual(byFlag.config);
  });

  test("that was named and isn't there stops the start", () => {
    expect(faults({ file: join(root, "none.toml") })).toMatch(/Cannot read .+none\.toml/);
  });

  test("in the data directory can't move that directory", () => {
    const fromDefault = { environment: {}, directory: root };
    writeFileSync(join(data, "larder.toml"), 'data = "."');
    expect(loadConfig(fromDefault).config.data).toBe(data);
    writeFileSync(join(data, "larder.toml"), 'data = "/srv/other"');
    expect(() => loadConfig(fromDefault)).toThrow('larder.toml:1: "data" must not name another directory');
  });

  test("may hold groups in every form of TOML", () => {
    const { plans } = load({
      toml: 'plans.pro.quota = "none"\n[plans.free]\nmaxFileSize = 1000\nlimit = { uploads = 7, general = "unlimited" }',
    }).config;
    expect([
      plans.pro.quotaBytes,
      plans.free.maxFileSizeBytes,
      plans.free.limit.uploads,
      plans.free.limit.general,
    ]).toEqual([null, 1000, 7, null]);
  });

  test("names the replica as text or as a table", () => {
    const s3 = 'blobs.store = "s3"\n';
    const written = [
      `replica = "s3://replica/home/"\n"replica.keyFile" = "seal.key"\n"replica.lease" = "5s"\n${s3}`,
      `${s3}[replica]\nurl = "s3://replica/home"\nkeyFile = "seal.key"\nlease = "5s"\n`,
      `${s3}replica.url = "s3://replica/home"\nreplica.keyFile = "seal.key"\nreplica.lease = "5s"\n`,
    ];
    for (const toml of written) {
      const { config, sources } = load({ toml });
      const keyFile = join(data, "seal.key");
      expect(config.replica).toEqual({ url: "s3://replica/home", keyFile, litestream: null, leaseMs: 5000 });
      expect(sources.get("replica")).toMatch(/larder\.toml:\d$/);
    }
    const env = { LARDER_REPLICA: "s3://replica", LARDER_REPLICA_KEY_FILE: "/seal.key", LARDER_BLOBS_STORE: "s3" };
    expect(load({ toml: "", env }).config.replica).toMatchObject({
      url: "s3://replica",
      keyFile: "/seal.key",
      leaseMs: 10_000,
    });
    expect(flagName("replica")).toBe("--replica");
  });

  test("with a password that others can read is warned of", () => {
    const toml = 'adminEmail = "a@example.org"\nadminPassword = "correct horse"\n';
    writeFileSync(join(data, "larder.toml"), toml);
    chmodSync(join(data, "larder.toml"), 0o644);
    expect(load({}).warnings).toEqual([expect.stringContaining(`chmod 600 ${data}/larder.toml`)]);
    chmodSync(join(data, "larder.toml"), 0o600);
    expect(load({}).warnings).toEqual([]);
  });
});

describe("a fault", () => {
  test.each([
    ["prot = 1", 'larder.toml:1: "prot" is not a setting. Did you mean "port"?'],
    ["# c\n\nbase_path = 1", 'larder.toml:3: "base_path" is not a setting. Did you mean "basePath"?'],
    [
      "[plans.free]\nquotta = 1",
      'larder.toml:2: "plans.free.quotta" is not a setting. Did you mean "plans.free.quota"?',
    ],
    [
      '[plans.free]\n\ncorsOrigins = ["x"]',
      'larder.toml:3: "plans.free.corsOrigins" is not a setting. Did you mean "corsOrigins"?',
    ],
    ["port = = 1", "larder.toml:1: not valid TOML."],
    ["port = 1\nport = 2", "larder.toml:2: not valid TOML."],
    ['port = "many"', 'larder.toml:1: "port" must be a whole number from 0 to 65535, not "many".'],
    ["port = 1.5", "larder.toml:1"],
    ["port = 70000", "larder.toml:1"],
    ["host = 1", 'larder.toml:1: "host" must be text in quotes, not 1.'],
    ['signup = "maybe"', 'larder.toml:1: "signup" must be one of: open, invite, closed, not "maybe".'],
    ["tokenLifetime = 30", 'larder.toml:1: "tokenLifetime" must be a duration with a unit'],
    ['outboundAllow = ["10.0.0.1:99999"]', 'larder.toml:1: "outboundAllow" is not valid'],
    ['trustedProxies = ["10.0.0.1:80"]', 'larder.toml:1: "trustedProxies" must be addresses'],
    ['trustedProxies = [\n "10.0.0.0/8",\n "10.0.0.0/99",\n]', 'larder.toml:1: "trustedProxies" must be addresses'],
    ['corsOrigins = ["https://a.example/path"]', "larder.toml:1"],
    ['corsOrigins = "*"', "larder.toml:1"],
    ['publicUrl = "files.example.org"', "larder.toml:1"],
    ['publicUrl = "https://files.example.org/?x=1"', "larder.toml:1"],
    ['basePath = "files"', "larder.toml:1"],
    ['basePath = "/a/../b"', "larder.toml:1"],
    ["rateLimitScale = 0", "larder.toml:1"],
    ['replica = "https://s3.example.org/x"', 'larder.toml:1: "replica" must be a bucket and a path'],
    ['replica = "s3://bucket/../x"', 'larder.toml:1: "replica" must be a bucket and a path'],
    ['[replica]\nurl = "s3:bucket"', 'larder.toml:2: "replica" must be a bucket and a path'],
    ['"replica.lease" = "100ms"', 'larder.toml:1: "replica.lease" must be a duration'],
    ['"replica.lease" = "0s"', 'larder.toml:1: "replica.lease" must be between 1s and 10m'],
    ['replica = "s3://bucket"\n"replica.keyFile" = "k"', 'replica requires blobs.store = "s3"'],
    ['replica = "s3://bucket"\nblobs.store = "s3"', "replica requires replica.keyFile"],
    ['blobs.acknowledge = "bucket"', 'requires blobs.store = "s3" and a replica'],
    ['blobs.acknowledge = "bucket"\nblobs.store = "s3"', 'requires blobs.store = "s3" and a replica'],
    [
      'replica = "s3://files/home/sha256/x"\n"replica.keyFile" = "k"\nblobs.store = "s3"\ns3.bucket = "files"\ns3.prefix = "home"',
      "replica must not be among the files",
    ],
    ['adminEmail = "a@example.org"', "Set both or neither"],
    ['adminEmail = "a@example.org"\nadminPassword = "x"\nadminPasswordFile = "y"', "both set"],
  ])("of %p is reported with its line", (toml, message) => expect(faults({ toml })).toContain(message));

  test.each([
    ["LARDER_PROT", "9000", "LARDER_PROT (environment) is not a setting. Did you mean LARDER_PORT?"],
    ["LARDER_PLANS_FREE_LIMIT_UPLODAS", "1", "LARDER_PLANS_FREE_LIMIT_UPLOADS"],
    ["LARDER_PLANS_FREE_MAX_FILE_SIZE", "-1", "LARDER_PLANS_FREE_MAX_FILE_SIZE must be a number of bytes"],
  ])("of %s=%s is reported by its name", (name, value, message) =>
    expect(faults({ env: { [name]: value } })).toContain(message),
  );

  test("is reported together with all others", () => {
    const message = faults({ toml: "prot = 1\nhots = 2", env: { LARDER_PORT: "many" } });
    for (const word of ['"prot"', '"hots"', "LARDER_PORT"]) expect(message).toContain(word);
  });

  test("in a value that another one overrides is still reported", () => {
    expect(faults({ toml: "port = 700000", flags: { port: "0" } })).toContain('larder.toml:1: "port" must be');
  });

  test("in a password doesn't show the password", () => {
    expect(faults({ toml: "adminPassword = 123454321" })).not.toContain("123454321");
  });
});

describe("variables that are none of ours", () => {
  test.each([
    ["LARDER_TEST_COMMAND", "dist/larder"],
    ["LARDER_BENCH_ROWS", "x"],
    ["LARDER_SERVICE_HOST", "10.0.0.1"],
    ["LARDER_PORT_8790_TCP_ADDR", "10.0.0.1"],
    ["LARDER_PORT", "tcp://10.0.0.1:8790"],
    ["BUN_OPTIONS", "x"],
  ])("are passed over: %s=%s", (name, value) => expect(load({ env: { [name]: value } }).config.port).toBe(8790));
});

describe("the household preset", () => {
  test("gives new accounts the largest plan, every limit a hundred times, and sign-up by invite", () => {
    const { config, sources } = load({ env: { LARDER_PRESET: "household" } });
    expect([config.defaultPlan, config.signup, config.rateLimitScale]).toEqual(["enterprise", "invite", 100]);
    const { free, enterprise } = config.plans;
    expect([free.limit.uploads, enterprise.limit.uploads, enterprise.limit.downloads]).toEqual([1000, 100_000, null]);
    expect([free.maxFileSizeBytes, free.devices, enterprise.devices]).toEqual([1_048_576_000, 300, null]);
    expect(sources.get("signup")).toBe("preset household");
  });

  test("is overridden by what is set explicitly", () => {
    const { config } = load({
      toml: 'preset = "household"\nsignup = "open"\n[plans.enterprise.limit]\nuploads = 7\n',
    });
    expect([config.signup, config.plans.enterprise.limit.uploads, config.plans.enterprise.limit.listing]).toEqual([
      "open",
      7,
      1_000_000,
    ]);
  });
});

test("rateLimitScale multiplies what isn't set explicitly, and leaves at least one request", () => {
  const { limit } = load({ env: { LARDER_RATE_LIMIT_SCALE: "0.01", LARDER_PLANS_FREE_LIMIT_UPLOADS: "9" } }).config
    .plans.free;
  expect([limit.uploads, limit.general, limit.signin]).toEqual([9, 10, 1]);
});

describe("values take one form", () => {
  test("addresses become ranges, host names lose brackets, paths their last slash", () => {
    const { config } = load({
      env: {
        LARDER_TRUSTED_PROXIES: "127.0.0.1, ::1 ,10.0.0.0/8",
        LARDER_OUTBOUND_ALLOW: "192.168.1.20:8080,10.0.0.0/8:443,[fd00::1]:80,[fd00::]/8:80,fd00::/8",
        LARDER_HOST: "[::1]",
        LARDER_BASE_PATH: "/files/",
        LARDER_PUBLIC_URL: "https://files.example.org/files/",
        LARDER_RATE_LIMITS: "off",
      },
    });
    expect(config.trustedProxies).toEqual(["127.0.0.1/32", "::1/128", "10.0.0.0/8"]);
    expect(config.outboundAllow).toEqual([
      "192.168.1.20/32:8080",
      "10.0.0.0/8:443",
      "[fd00::1]/128:80",
      "[fd00::]/8:80",
      "fd00::/8",
    ]);
    expect([config.host, config.basePath, config.publicUrl, config.rateLimits]).toEqual([
      "::1",
      "/files",
      "https://files.example.org/files",
      false,
    ]);
  });

  test("the base path follows from publicUrl where it isn't set, and a difference is warned of", () => {
    expect(load({ env: { LARDER_PUBLIC_URL: "https://example.org/files" } }).config.basePath).toBe("/files");
    const env = { LARDER_PUBLIC_URL: "https://example.org", LARDER_BASE_PATH: "/files" };
    expect(load({ env }).warnings).toHaveLength(1);
  });

  test("nothing of the configuration can be changed", () => {
    const { config } = load({ env: { LARDER_TRUSTED_PROXIES: "::1" } });
    const frozen = [config, config.plans, config.plans.free, config.plans.free.limit, config.trustedProxies];
    expect(frozen.map((part) => Object.isFrozen(part))).toEqual([true, true, true, true, true]);
  });
});
