import { integerOrNone, size, sizeOrNone } from "../setting.ts";

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
  "dav",
  "general",
] as const;

/** One of {@link RATE_CATEGORIES}. */
export type RateCategory = (typeof RATE_CATEGORIES)[number];

/** The plans, smallest first. */
export const PLANS = ["free", "pro", "enterprise"] as const;

/** Makes a value for each of {@link RATE_CATEGORIES}. */
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
  dav: 5000,
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
  dav: 50_000,
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
  dav: 500_000,
  general: 100_000,
};

/** The defaults of each plan. */
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
    devices: integerOrNone(devices, `Maximum number of registered devices on the ${name} plan.`),
    limit: perCategory(limit),
  };
}

/** The settings of the plans. */
export const PLAN_SETTINGS = { free: plan("free"), pro: plan("pro"), enterprise: plan("enterprise") };
