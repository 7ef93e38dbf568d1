import { describe, expect, test } from "bun:test";
import { type Category } from "../../../../src/features/accounts/plans/plans.ts";
import { categoryOf, isCountedByHandler } from "../../../../src/features/accounts/rate-limits/categories.ts";
import { mountedRoutes } from "../../server/mounted-routes.ts";

const routes = await mountedRoutes();
const ruleOf = (method: string, path: string) => routes.find(method, path)?.declaration.rate;

/** Every endpoint: method, path, category. */
const endpoints: [string, string, Category | undefined][] = [
  ["POST", "/api/auth/signin", "signin"],
  ["POST", "/api/auth/signup", "signup"],
  ["POST", "/api/auth/refresh", "refresh"],
  ["POST", "/api/auth/signout", "general"],
  ["GET", "/api/auth/session", "general"],
  ["GET", "/api/auth/methods", "general"],
  ["POST", "/api/auth/password/forgot", "signin"],
  ["POST", "/api/auth/password/reset", "signin"],
  ["POST", "/api/auth/password/", "signin"],
  ["POST", "/api/auth/passwords", "general"],
  ["GET", "/api/auth/oidc/start", "general"],
  ["GET", "/api/auth/oidc/callback", "general"],
  ["POST", "/api/auth/oidc/token", "signin"],
  ["POST", "/api/auth/oidc/link", "general"],
  ["GET", "/api/auth/signin", "general"],

  ["GET", "/api/files", "listing"],
  ["GET", "/api/files?folder=/a&search=b", "listing"],
  ["GET", "/api/files?share=shr_1&folder=/", "listing"],
  ["HEAD", "/api/files", "listing"],
  ["GET", "/api/files/", "listing"],
  ["POST", "/api/files", "operations"],
  ["GET", "/api/files/tags", "listing"],
  ["POST", "/api/files/tags", "operations"],
  ["GET", "/api/files/search?q=beach", "listing"],
  ["GET", "/api/photos?at=2026", "listing"],
  ["GET", "/api/photos/timeline", "listing"],
  ["GET", "/api/files/file_1/activity", "operations"],
  ["GET", "/api/files/folders", "operations"],
  ["GET", "/api/files/folders/fold_1", "listing"],
  ["POST", "/api/files/folders", "operations"],
  ["PUT", "/api/files/folders/fold_1", "operations"],
  ["DELETE", "/api/files/folders/fold_1?recursive=true", "operations"],
  ["GET", "/api/files/folders/fold_1/archive", "downloads"],
  ["GET", "/api/files/folders/fold_1/shares", "operations"],
  ["POST", "/api/files/folders/fold_1/shares", "operations"],
  ["POST", "/api/files/upload", "uploads"],
  ["GET", "/api/files/upload", "operations"],
  ["POST", "/api/files/archive", "downloads"],
  ["POST", "/api/files/move", "operations"],
  ["POST", "/api/files/copy", "operations"],
  ["POST", "/api/files/trash", "operations"],
  ["GET", "/api/files/trash", "operations"],
  ["DELETE", "/api/files/trash", "operations"],
  ["POST", "/api/files/trash/restore", "operations"],
  ["GET", "/api/files/file_1", "operations"],
  ["PUT", "/api/files/file_1", "operations"],
  ["DELETE", "/api/files/file_1", "operations"],
  ["PUT", "/api/files/file_1/content", "uploads"],
  ["GET", "/api/files/file_1/checksum", "operations"],
  ["GET", "/api/files/file_1/download", "downloads"],
  ["HEAD", "/api/files/file_1/download", "downloads"],
  ["GET", "/api/files/file_1/download/", "downloads"],
  ["GET", "/api/files/file_1/download?inline", "downloads"],
  ["GET", "/api/files/file_1/download?thumbnail=true", "general"],
  ["GET", "/api/files/file_1/download?thumbnail", "general"],
  ["GET", "/api/files/file_1/download?inline=1&thumbnail=small", "general"],
  ["GET", "/api/files/file_1/download?thumbnail=false", "downloads"],
  ["GET", "/api/files/file_1/download?thumbnail=0", "downloads"],
  ["GET", "/api/files/file_1/download?thumbnail=true&thumbnail=false", "downloads"],
  ["GET", "/api/files/file_1/download?x=thumbnail", "downloads"],
  ["POST", "/api/files/file_1/download", "operations"],
  ["GET", "/api/files/file_1/versions", "operations"],
  ["GET", "/api/files/file_1/versions/2/download", "downloads"],
  ["POST", "/api/files/file_1/versions/2/restore", "operations"],
  ["DELETE", "/api/files/file_1/versions/2", "operations"],
  ["POST", "/api/files/file_1/shares", "operations"],
  ["GET", "/api/files/file_1/shares", "operations"],
  ["GET", "/api/files/a/b/c/d/e", "operations"],
  ["GET", "/api/filesystem", "general"],

  ["GET", "/api/shares", "operations"],
  ["GET", "/api/shares/received", "operations"],
  ["PATCH", "/api/shares/shr_1", "operations"],
  ["DELETE", "/api/shares/shr_1", "operations"],
  ["GET", "/api/public/token", "operations"],
  ["GET", "/api/public/token/download", "downloads"],
  ["GET", "/api/public/token/download?fileId=file_1", "downloads"],
  ["GET", "/api/public/token/download?thumbnail=1", "general"],
  ["GET", "/api/public/token/files?folder=/", "listing"],
  ["POST", "/api/public/token/upload", "uploads"],
  ["POST", "/api/public/token/unlock", "operations"],
  ["GET", "/s/token/download", "downloads"],
  ["POST", "/s/token/archive", "downloads"],
  ["GET", "/s/token/archive", undefined],
  ["GET", "/s/token", undefined],
  ["GET", "/s/token/", undefined],
  ["GET", "/s//download", undefined],

  ["GET", "/api/users/profile", "profile"],
  ["PUT", "/api/users/profile", "profile"],
  ["DELETE", "/api/users/profile", "profile"],
  ["GET", "/api/users/settings", "profile"],
  ["PUT", "/api/users/settings", "profile"],
  ["GET", "/api/users/sessions", "profile"],
  ["DELETE", "/api/users/sessions/ses_1", "profile"],
  ["POST", "/api/users/api-keys", "profile"],
  ["GET", "/api/users/usage", "usage"],
  ["GET", "/api/users/usage/rate-limits", "usage"],
  ["GET", "/api/users/usages", "profile"],

  ["POST", "/api/mobile/auth/register", "general"],
  ["POST", "/api/mobile/auth/refresh", "general"],
  ["POST", "/api/mobile/auth", "general"],
  ["GET", "/api/mobile/sync", "sync"],
  ["GET", "/api/mobile/sync/status?lastSync=x", "sync"],
  ["POST", "/api/mobile/sync/files", "sync"],
  ["POST", "/api/mobile/upload", "uploads"],
  ["POST", "/api/mobile/upload/init", "uploads"],
  ["POST", "/api/mobile/upload/progress", "general"],
  ["POST", "/api/mobile/upload/complete", "general"],
  ["GET", "/api/mobile/upload/up_1", "general"],
  ["DELETE", "/api/mobile/upload/up_1", "general"],
  ["PUT", "/api/mobile/upload/up_1/chunks/3?signature=x", "general"],
  ["POST", "/api/mobile/queue/add", "general"],
  ["GET", "/api/mobile/queue", "general"],
  ["POST", "/api/mobile/conflicts/resolve", "general"],
  ["POST", "/api/mobile/notifications/register", "general"],
  ["GET", "/api/mobile/notifications", "general"],
  ["POST", "/api/mobile/push", "general"],
  ["GET", "/api/mobile/devices", "general"],
  ["PUT", "/api/mobile/devices/d/settings", "general"],
  ["DELETE", "/api/mobile/devices/d", "general"],

  ["GET", "/api/admin/users", "general"],
  ["GET", "/api/admin/stats", "general"],
  ["POST", "/api/webhooks", "general"],
  ["GET", "/api", "general"],
  ["GET", "/api/", "general"],
  ["GET", "/api/nothing/of/the/kind", "general"],
  ["OPTIONS", "/api/files", "operations"],

  ["GET", "/", undefined],
  ["GET", "/apiary", undefined],
  ["GET", "/health/live", undefined],
  ["GET", "/metrics", undefined],
  ["GET", "/docs", undefined],
  ["GET", "/openapi.json", undefined],
];

describe("the category", () => {
  test.each(endpoints)("of %s %s is %s", (method, address, category) => {
    const [path = "", query = ""] = address.split("?");
    expect(categoryOf(ruleOf(method, path), path, query)).toBe(category);
  });

  test("of sign-in and of starting an upload session is counted by their handlers", () => {
    expect(isCountedByHandler(ruleOf("POST", "/api/auth/signin"))).toBe(true);
    expect(isCountedByHandler(ruleOf("POST", "/api/auth/signin/"))).toBe(true);
    expect(isCountedByHandler(ruleOf("POST", "/api/mobile/upload/init"))).toBe(true);
    expect(isCountedByHandler(ruleOf("POST", "/api/auth/signup"))).toBe(false);
    expect(isCountedByHandler(ruleOf("GET", "/api/auth/signin"))).toBe(false);
  });
});
