import { describe, expect, test } from "bun:test";
import { auditedAction as auditedRoute } from "../../../../src/features/administration/audit/actions.ts";
import type { AuditFiles } from "../../../../src/features/administration/audit/types.ts";
import { mountedRoutes } from "../../server/mounted-routes.ts";

const routes = await mountedRoutes();

function auditedAction(method: string, path: string, files: AuditFiles) {
  const route = routes.find(method, path);
  return route && auditedRoute(route, path, files);
}

describe("auditedAction", () => {
  test.each([
    ["POST", "/api/auth/signin", "sign_in"],
    ["POST", "/api/auth/signin/", "sign_in"],
    ["DELETE", "/api/files/trash", "trash.empty"],
    ["DELETE", "/api/files/trash/file_1", "trash.empty"],
    ["DELETE", "/api/files/file_1", "file.delete"],
    ["DELETE", "/api/files/folders/fold_1", "folder.delete"],
    ["DELETE", "/api/admin/users/usr_1/sessions", "user.end_sessions"],
    ["POST", "/s/token/unlock", "share.unlock"],
    ["POST", "/invite", "sign_up"],
    ["POST", "/welcome", "password.reset"],
  ])("%s %s is %s", (method, path, action) => {
    expect(auditedAction(method, path, "changes")?.action).toBe(action);
  });

  test.each([
    ["GET", "/api/files"],
    ["POST", "/api/auth/refresh"],
    ["POST", "/api/files/upload"],
    ["PUT", "/api/files/file_1"],
    ["GET", "/api/files/file_1/download"],
    ["PUT", "/api/users/settings"],
    ["POST", "/api"],
    ["POST", "/"],
    // This path has no route that changes anything.
    ["PATCH", "/api/admin/unknown/path"],
  ])("%s %s is not audited by default", (method, path) => {
    expect(auditedAction(method, path, "changes")).toBeUndefined();
  });

  test("on files follow the setting, others don't", () => {
    const actionsOf = (files: "off" | "changes" | "all") =>
      [
        auditedAction("DELETE", "/api/files/file_1", files),
        auditedAction("POST", "/api/files/upload", files),
        auditedAction("POST", "/api/webhooks", files),
      ].map((found) => found?.action);
    expect(actionsOf("off")).toEqual([undefined, undefined, "webhook.create"]);
    expect(actionsOf("changes")).toEqual(["file.delete", undefined, "webhook.create"]);
    expect(actionsOf("all")).toEqual(["file.delete", "file.upload", "webhook.create"]);
  });

  test("records the resources in a path, but never the token of a link", () => {
    expect(auditedAction("DELETE", "/api/admin/users/usr_1/devices/phone", "off")).toMatchObject({
      target: { type: "device", id: "phone" },
      subjectId: "usr_1",
    });
    expect(auditedAction("PATCH", "/api/admin/users/usr_1", "off")).toMatchObject({
      target: { type: "user", id: "usr_1" },
      subjectId: "usr_1",
    });
    expect(JSON.stringify(auditedAction("POST", "/api/public/secret/unlock", "off"))).not.toContain("secret");
  });
});

test("only a few read requests are audited", () => {
  const auditedReads = (files: "changes" | "all") =>
    ["/api/files", "/api/files/file_1/download", "/api/admin/stats"].filter((path) =>
      auditedAction("GET", path, files),
    );
  expect(auditedReads("changes")).toEqual(["/api/admin/stats"]);
  expect(auditedReads("all")).toEqual(["/api/files/file_1/download", "/api/admin/stats"]);
});
