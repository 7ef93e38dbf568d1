// Help, mistakes, and settings of commands.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolders } from "../../support/data-directory.ts";
import { runInProcess } from "../../support/in-process.ts";

const folder = temporaryFolders();

const commands = [
  "serve",
  "user",
  "backup",
  "restore",
  "verify",
  "heal",
  "gc",
  "import",
  "export",
  "config",
  "healthcheck",
  "openapi",
  "version",
];

describe("--help", () => {
  test("lists the commands", async () => {
    const { code, stdout } = await runInProcess(["--help"]);
    expect(code).toBe(0);
    for (const command of commands) expect(stdout).toContain(command);
  });

  test.each(commands)("of %s exits 0 and prints the exit codes", async (command) => {
    const { code, stdout } = await runInProcess([command, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain(command);
    expect(stdout.toLowerCase()).toContain("exit");
  });

  test("of serve names the kind of value of each flag", async () => {
    const { stdout } = await runInProcess(["serve", "--help"]);
    const flags = ["--preset <spec|household>", "--log <auto|pretty|json>", "--port <number>", "--data <path>"];
    for (const flag of flags) expect(stdout).toContain(`${flag} `);
    expect(stdout).toMatch(/--[a-z-]+ \[on\|off\] /);
    expect(stdout).not.toContain("(preset:");
    expect(stdout).not.toContain("<whole>");
  });

  test("of serve shows each default once", async () => {
    const { stdout } = await runInProcess(["serve", "--help"]);
    expect(stdout).toMatch(/--port <number> .*\(default: 8790\)/);
    expect(stdout).not.toMatch(/\(\)|\((default: )?not set\)|\(default: "/);
  });

  test("of rebuild names --force, and not its former name", async () => {
    const { stdout } = await runInProcess(["rebuild", "--help"]);
    expect(stdout).toContain("--force ");
    expect(stdout).not.toContain("--over");
  });
});

describe("a mistake", () => {
  test.each([[["serve", "--nonsense"]], [["user", "nonsense"]], [["serve", "--port", "70000"]]])(
    "%p exits 2 with a message on stderr",
    async (args) => {
      const { code, stderr, stdout } = await runInProcess(args);
      expect(code).toBe(2);
      expect(stderr.trim()).not.toBe("");
      expect(stdout).toBe("");
      expect(stderr).not.toMatch(/\n\s+at .+:\d+:\d+/);
    },
  );

  test("does not change another folder", async () => {
    const foreign = await folder();
    await mkdir(join(foreign, "precious"));
    const { code } = await runInProcess(["user", "list", "--data", join(foreign, "nothing-here")]);
    expect(code).not.toBe(0);
    expect(existsSync(join(foreign, "nothing-here"))).toBe(false);
  });
});

describe("config", () => {
  test("takes a toggle without a value as on", async () => {
    const line = async (...flags: string[]) => {
      const { stdout } = await runInProcess(["config", ...flags]);
      return stdout.split("\n").find((one) => one.includes("verifyAfterWrite"));
    };
    expect(await line()).toMatch(/\boff\b/);
    expect(await line("--verify-after-write")).toMatch(/\bon\b.*--verify-after-write/);
    expect(await line("--verify-after-write", "off")).toMatch(/\boff\b.*--verify-after-write/);
  });

  test("shows the defaults if nothing is set", async () => {
    const { stdout, code } = await runInProcess(["config"], { env: { LARDER_DATA: await folder() } });
    expect(code).toBe(0);
    expect(stdout).toContain("8790");
    expect(stdout).toContain("127.0.0.1");
  });

  test("prints no secret", async () => {
    const env = { LARDER_ADMIN_EMAIL: "root@example.com", LARDER_ADMIN_PASSWORD: "very secret password" };
    const { code, stdout, stderr } = await runInProcess(["config"], { env });
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain("very secret password");
  });

  test("reads another file with --config", async () => {
    const dataDir = await folder();
    const path = join(dataDir, "other.toml");
    await writeFile(path, "port = 9005\n");
    const env = { LARDER_DATA: dataDir };
    const { code, stdout } = await runInProcess(["config", "--config", path], { env });
    expect({ code, has: stdout.includes("9005") }).toEqual({ code: 0, has: true });
    const missing = await runInProcess(["config", "--config", join(dataDir, "missing.toml")], { env });
    expect(missing.code).toBe(2);
  });

  test("accepts every setting in the environment", async () => {
    const env: Record<string, string> = {
      LARDER_HOST: "127.0.0.1",
      LARDER_PORT: "0",
      LARDER_PRESET: "household",
      LARDER_DEFAULT_PLAN: "pro",
      LARDER_RATE_LIMITS: "off",
      LARDER_SIGNUP: "invite",
      LARDER_PUBLIC_URL: "https://files.example.com",
      LARDER_TRUSTED_PROXIES: "10.0.0.0/8,127.0.0.1",
      LARDER_OUTBOUND_ALLOW: "192.168.0.0/16",
      LARDER_CORS_ORIGINS: "https://app.example.com",
      LARDER_LOG: "json",
      LARDER_LOG_LEVEL: "warn",
    };
    for (const plan of ["FREE", "PRO", "ENTERPRISE"]) {
      for (const key of ["MAX_FILE_SIZE", "QUOTA", "DEVICES"]) env[`LARDER_PLANS_${plan}_${key}`] = "12345";
      for (const category of [
        "SIGNIN",
        "SIGNUP",
        "REFRESH",
        "UPLOADS",
        "DOWNLOADS",
        "LISTING",
        "OPERATIONS",
        "PROFILE",
        "USAGE",
        "SYNC",
        "GENERAL",
      ])
        env[`LARDER_PLANS_${plan}_LIMIT_${category}`] = "7";
    }
    const { code, stderr } = await runInProcess(["config"], { env: { ...env, LARDER_DATA: await folder() } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

describe("a bad setting", () => {
  const bad: [string, string, RegExp][] = [
    ["a key with a typo", "# first\nprot = 9000\n", /(?=[\s\S]*\b2\b)(?=[\s\S]*prot)(?=[\s\S]*\bport\b)/],
    ["an unknown key", "favouriteColour = 1\n", /favouriteColour/],
    ["a number out of range", "port = 700000\n", /(?=[\s\S]*\b1\b)(?=[\s\S]*port)/],
    ["a wrong type", 'port = "many"\n', /port/],
    ["a value that is not one of the choices", 'signup = "maybe"\n', /(?=[\s\S]*signup)(?=[\s\S]*invite)/],
    ["a line that is not TOML", "port = = 1\n", /\b1\b/],
    ["an invalid list of addresses", 'trustedProxies = ["10.0.0.0/99"]\n', /trustedProxies/],
  ];

  test.each(bad)(
    "in larder.toml stops the start and names the line and the nearest key: %s",
    async (_, toml, pattern) => {
      const dataDir = await folder();
      await writeFile(join(dataDir, "larder.toml"), toml);
      const { code, stderr } = await runInProcess(["serve", "--data", dataDir, "--port", "0"]);
      expect(code).toBe(2);
      expect(stderr).toMatch(pattern);
      expect(existsSync(join(dataDir, "larder.db"))).toBe(false);
    },
  );

  test.each([
    ["LARDER_PROT", "9000", /LARDER_PORT/],
    ["LARDER_SIGNUP", "maybe", /LARDER_SIGNUP/],
    ["LARDER_PORT", "many", /LARDER_PORT/],
    ["LARDER_PUBLIC_URL", "not a url", /LARDER_PUBLIC_URL/],
    ["LARDER_DEFAULT_PLAN", "gold", /LARDER_DEFAULT_PLAN/],
    ["LARDER_PLANS_FREE_MAX_FILE_SIZE", "-1", /LARDER_PLANS_FREE_MAX_FILE_SIZE/],
    ["LARDER_PLANS_FREE_LIMIT_UPLODAS", "1", /LARDER_PLANS_FREE_LIMIT_UPLOADS/],
  ])("in the environment stops the start: %s=%s", async (name, value, pattern) => {
    const env = { LARDER_PORT: "0", [name]: value };
    const { code, stderr } = await runInProcess(["serve", "--data", await folder()], { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(pattern);
  });
});
