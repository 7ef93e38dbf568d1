/**
 * The three plans with all their limits, and how the configuration changes them. All code that checks an amount or a
 * rate uses the {@link Plans} made here at start.
 */
import { SETTINGS } from "../../../config/settings.ts";
import { perCategory, type RateCategory } from "../../../config/settings/plans.ts";
import type { PlanName } from "../users/types.ts";

/** The category of a request: one of {@link RATE_CATEGORIES}, and the value of `X-RateLimit-Resource`. */
export type Category = RateCategory;

/** Accepted requests per window; null for no limit. */
export type Limit = number | null;

/** "No limit" in the API: the largest whole number that JSON readers represent exactly. */
export const UNLIMITED_ON_WIRE = Number.MAX_SAFE_INTEGER;

/** The length of the window of each category, in seconds. */
export const WINDOW_SECONDS: Readonly<Record<Category, number>> = {
  signin: 60,
  signup: 3600,
  refresh: 3600,
  uploads: 3600,
  downloads: 3600,
  listing: 3600,
  operations: 3600,
  profile: 3600,
  usage: 3600,
  sync: 3600,
  dav: 3600,
  general: 3600,
};

/** The limits of an account on this plan. */
export interface Plan {
  readonly name: PlanName;
  /** Largest size of one file. */
  readonly maxFileSizeBytes: number;
  /** Bytes that an account may store in all, unless it has a quota of its own; null for no limit. */
  readonly quotaBytes: number | null;
  /** Files and folders that an account may have, including those in the trash; null for no limit. */
  readonly maxNodes: number | null;
  /** Phones and tablets that an account may have registered at the same time; null for no limit. */
  readonly devices: number | null;
  /** Requests per window of {@link WINDOW_SECONDS}. */
  readonly limits: Readonly<Record<Category, Limit>>;
}

/** The plans in force. */
export interface Plans extends Readonly<Record<PlanName, Plan>> {
  /** Sign-in attempts per minute from one address, for any accounts. */
  readonly signinCeiling: Limit;
  readonly wrongPasswords: WrongPasswordLimits;
}

/** How many wrong passwords are allowed. Neither a preset nor `rateLimitScale` nor `rateLimits=off` changes this. */
interface WrongPasswordLimits {
  /** Per minute, address and account (or link): the sign-in limit of `free`, or its configured number. */
  readonly perMinute: Limit;
  /** Per minute and address, for any accounts and links. */
  readonly perMinuteOfAddress: number;
  /** Per hour, address and account (or link). */
  readonly perHour: number;
}

/** Configured numbers that replace those of a plan. Null removes a limit; absent leaves it. */
export interface PlanOverride {
  readonly maxFileSizeBytes?: number | undefined;
  readonly quotaBytes?: number | null | undefined;
  readonly maxNodes?: number | null | undefined;
  readonly devices?: number | null | undefined;
  readonly limits?: Readonly<Partial<Record<Category, Limit | undefined>>> | undefined;
}

/** Overrides by plan. */
type PlanOverrides = Readonly<Partial<Record<PlanName, PlanOverride | undefined>>>;

/** The configuration of plans. */
interface PlanSettings {
  readonly overrides?: PlanOverrides;
  /** Multiplies every rate limit except those of wrong passwords; numbers in `overrides` stay as given. */
  readonly limitMultiplier?: number;
  /** `off` removes every rate limit except those of wrong passwords. File sizes, quotas and device limits stay. */
  readonly rateLimits?: "on" | "off";
}

const SIGNIN_CEILING = 20;
const WRONG_PASSWORDS_PER_HOUR = 50;

/** The default numbers of the limits; they come from the table of settings. */
const BUILT_IN: Readonly<Record<PlanName, Plan>> = {
  free: builtIn("free"),
  pro: builtIn("pro"),
  enterprise: builtIn("enterprise"),
};

function builtIn(name: PlanName): Plan {
  const { maxFileSize, quota, maxNodes, devices, limit } = SETTINGS.plans[name];
  return {
    name,
    maxFileSizeBytes: maxFileSize.default,
    quotaBytes: quota.default,
    maxNodes: maxNodes.default,
    devices: devices.default,
    limits: perCategory((category) => limit[category].default),
  };
}

/**
 * The plans with the configuration applied. An explicit limit replaces the plan's number and is not multiplied. The
 * ceiling of sign-ins per address is multiplied too, and is never below the limit of one account: otherwise raising a
 * plan's sign-in limit would have no effect.
 */
export function buildPlans(settings: PlanSettings = {}): Plans {
  const { overrides = {}, limitMultiplier = 1, rateLimits = "on" } = settings;
  const build = (name: PlanName): Plan => {
    const plan = BUILT_IN[name];
    const override = overrides[name] ?? {};
    const limitOf = (category: Category): Limit => {
      if (rateLimits === "off") return null;
      const given = override.limits?.[category];
      return given === undefined ? multiply(plan.limits[category], limitMultiplier) : given;
    };
    return {
      name,
      maxFileSizeBytes: override.maxFileSizeBytes ?? plan.maxFileSizeBytes,
      quotaBytes: override.quotaBytes === undefined ? plan.quotaBytes : override.quotaBytes,
      maxNodes: override.maxNodes === undefined ? plan.maxNodes : override.maxNodes,
      devices: override.devices === undefined ? plan.devices : override.devices,
      limits: perCategory(limitOf),
    };
  };
  const plans = { free: build("free"), pro: build("pro"), enterprise: build("enterprise") };
  return {
    ...plans,
    signinCeiling: signinCeiling(plans, limitMultiplier, rateLimits),
    wrongPasswords: wrongPasswords(overrides.free?.limits?.signin, limitMultiplier),
  };
}

/** @param given the configured sign-in limit of `free`, which may have been multiplied already */
function wrongPasswords(given: Limit | undefined, multiplier: number): WrongPasswordLimits {
  const builtIn = BUILT_IN.free.limits.signin;
  const isGiven = given !== undefined && given !== multiply(builtIn, multiplier);
  const perMinute = isGiven ? given : builtIn;
  return {
    perMinute,
    perMinuteOfAddress: Math.max(SIGNIN_CEILING, perMinute ?? 0),
    perHour: WRONG_PASSWORDS_PER_HOUR,
  };
}

function signinCeiling(
  plans: Readonly<Record<PlanName, Plan>>,
  multiplier: number,
  rateLimits: "on" | "off",
): number | null {
  if (rateLimits === "off") return null;
  const ceiling = multiply(SIGNIN_CEILING, multiplier);
  return [plans.free, plans.pro, plans.enterprise]
    .map((plan) => plan.limits.signin)
    .reduce((highest, limit) => (highest === null || limit === null ? null : Math.max(highest, limit)), ceiling);
}

function multiply(limit: Limit, multiplier: number): Limit {
  return limit === null ? null : Math.min(Math.round(limit * multiplier), Number.MAX_SAFE_INTEGER);
}
