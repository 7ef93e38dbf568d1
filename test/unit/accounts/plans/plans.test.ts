import { describe, expect, test } from "bun:test";
import { RATE_CATEGORIES } from "../../../../src/config/settings/plans.ts";
import { buildPlans } from "../../../../src/features/accounts/plans/plans.ts";
import { accountUsage, percentageOf } from "../../../../src/features/accounts/plans/usage.ts";

describe("plans", () => {
  test("have the documented numbers", () => {
    const { free, pro, enterprise, signinCeiling } = buildPlans();
    const column = (plan: typeof free) => RATE_CATEGORIES.map((category) => plan.limits[category]);
    expect(column(free)).toEqual([5, 3, 10, 10, 50, 100, 50, 100, 50, 200, 5000, 1000]);
    expect(column(pro)).toEqual([10, 5, 50, 100, 500, 1000, 500, 1000, 500, 2000, 50_000, 10_000]);
    expect(column(enterprise)).toEqual([20, 10, 100, 1000, null, 10_000, 5000, 10_000, 5000, 20_000, 500_000, 100_000]);
    expect([free, pro, enterprise].map((plan) => plan.maxFileSizeBytes)).toEqual([
      10_485_760, 104_857_600, 1_073_741_824,
    ]);
    expect([free, pro, enterprise].map((plan) => plan.quotaBytes)).toEqual([5_368_709_120, 107_374_182_400, null]);
    expect([free, pro, enterprise].map((plan) => plan.devices)).toEqual([3, 10, null]);
    expect(signinCeiling).toBe(20);
  });

  test("accept numbers from the configuration, and null for no limit", () => {
    const { free, pro } = buildPlans({
      overrides: { free: { maxFileSizeBytes: 1, quotaBytes: null, devices: 0, limits: { uploads: 7, sync: null } } },
    });
    expect(free).toMatchObject({ maxFileSizeBytes: 1, quotaBytes: null, devices: 0 });
    expect(free.limits).toMatchObject({ uploads: 7, sync: null, downloads: 50 });
    expect(pro.limits.uploads).toBe(100);
  });

  test("are multiplied, except for configured limits", () => {
    const plans = buildPlans({ limitMultiplier: 100, overrides: { free: { limits: { uploads: 7 } } } });
    expect(plans.free.limits).toMatchObject({ uploads: 7, downloads: 5000, signin: 500 });
    expect(plans.enterprise.limits.downloads).toBeNull();
    expect(plans.free.maxFileSizeBytes).toBe(10_485_760);
    expect(plans.signinCeiling).toBe(2000);
    expect(plans.wrongPasswords).toEqual({ perMinute: 5, perMinuteOfAddress: 20, perHour: 50 });
  });

  test("have no rate limits if these are off, with any other configuration", () => {
    const plans = buildPlans({ rateLimits: "off", overrides: { pro: { devices: 1, limits: { uploads: 7 } } } });
    for (const plan of [plans.free, plans.pro, plans.enterprise]) {
      expect(Object.values(plan.limits)).toEqual(RATE_CATEGORIES.map(() => null));
    }
    expect(plans.signinCeiling).toBeNull();
    expect(plans.wrongPasswords).toEqual({ perMinute: 5, perMinuteOfAddress: 20, perHour: 50 });
    expect(plans.pro.devices).toBe(1);
  });

  test("raise the sign-in limit per address along with that of an account", () => {
    expect(buildPlans({ overrides: { pro: { limits: { signin: 50 } } } }).signinCeiling).toBe(50);
    expect(buildPlans({ overrides: { pro: { limits: { signin: null } } } }).signinCeiling).toBeNull();
    expect(buildPlans({ overrides: { enterprise: { limits: { signin: 2 } } } }).signinCeiling).toBe(20);
  });
});

describe("usage of an account", () => {
  const input = {
    totals: { files: 3, folders: 2, fileBytes: 1000, versionBytes: 200, trashBytes: 30 },
    byType: [
      { type: "image/png", files: 1, bytes: 100 },
      { type: "video/mp4", files: 2, bytes: 900 },
      { type: "text/plain", files: 0, bytes: 0 },
    ],
    transfers: { period: "2026-01", uploads: 3, uploadedBytes: 1000, downloads: 1, downloadedBytes: 10 },
    devices: 2,
    plan: buildPlans().free,
    quotaBytes: undefined,
  };

  test("sums files, versions and trash, and compares them with the plan's quota", () => {
    expect(accountUsage({ ...input, quotaBytes: 10_000 })).toEqual({
      storage: {
        used: 1230,
        quota: 10_000,
        remaining: 8770,
        percentage: 12.3,
        files: 3,
        folders: 2,
        versions: 200,
        trash: 30,
      },
      byType: [
        { type: "video/mp4", files: 2, bytes: 900 },
        { type: "image/png", files: 1, bytes: 100 },
      ],
      transfers: input.transfers,
      devices: { count: 2, limit: 3 },
      plan: { name: "free", maxFileSize: 10_485_760, maxNodes: 200_000 },
    });
    expect(accountUsage(input).storage.quota).toBe(5_368_709_120);
  });

  test("without a quota has no remaining bytes and a percentage of 0", () => {
    const { storage } = accountUsage({ ...input, quotaBytes: null });
    expect(storage).toMatchObject({ quota: null, remaining: null, percentage: 0 });
    expect(accountUsage({ ...input, plan: buildPlans().enterprise }).storage.quota).toBeNull();
  });

  test("above a reduced quota has a percentage over 100, and nothing remaining", () => {
    expect(accountUsage({ ...input, quotaBytes: 615 }).storage).toMatchObject({ remaining: 0, percentage: 200 });
  });
});

test("a percentage has two decimals, and is 0 without a limit", () => {
  expect(percentageOf(1, 3)).toBe(33.33);
  expect(percentageOf(2, 3)).toBe(66.67);
  expect(percentageOf(5, null)).toBe(0);
  expect(percentageOf(0, 0)).toBe(0);
  expect(percentageOf(1, 0)).toBe(100);
});
