import { expect, test } from "bun:test";
import { presentAccount, presentPlan } from "../../../../src/features/administration/admin-api/present.ts";
import type { AccountRow } from "../../../../src/features/administration/admin-api/types.ts";
import { buildPlans } from "../../../../src/features/accounts/plans/plans.ts";

const plans = buildPlans({});
const row: AccountRow = {
  id: 1,
  publicId: "usr_1",
  email: "ada@example.org",
  name: "Ada",
  role: "user",
  plan: "free",
  quotaBytes: null,
  disabledAt: null,
  emailUnconfirmedSince: null,
  createdAt: 0,
  lastActiveAt: null,
  usedBytes: 5,
  files: 1,
  folders: 0,
  devices: 0,
};

test.each([
  [null, plans.free.quotaBytes, false],
  [-1, null, true],
  [0, 0, true],
  [123, 123, true],
])("a stored quota of %p is shown as %p", (quotaBytes, quota, quotaOverride) => {
  expect(presentAccount({ ...row, quotaBytes }, plans.free, false)).toMatchObject({ quota, quotaOverride });
});

test("a plan has a limit and a window for every category", () => {
  const { limits } = presentPlan(plans.free, true);
  expect(limits["signin"]).toEqual({ limit: 5, windowSeconds: 60 });
  expect(Object.keys(limits)).toHaveLength(12);
});
