import { describe, expect, test } from "bun:test";
import { expectStatus } from "../support/expect.ts";
import { ApiDocument, asObject } from "../support/openapi.ts";
import { runLarder, sharedServer } from "../support/server.ts";

const server = sharedServer();
let loaded: Promise<ApiDocument> | undefined;

/** Loads the document once. */
function load(): Promise<ApiDocument> {
  loaded ??= ApiDocument.load();
  return loaded;
}

/** Every public endpoint, and the statuses that its callers handle. */
const endpoints: [string, string, number[]][] = [
  ["POST", "/api/auth/signup", [201, 400, 403, 409, 413, 415, 429]],
  ["POST", "/api/auth/signin", [200, 400, 401, 403, 413, 415, 429]],
  ["GET", "/api/auth/session", [200, 401, 429]],
  ["POST", "/api/auth/refresh", [200, 401, 403, 429]],
  ["POST", "/api/auth/signout", [200, 401, 403, 429]],
  ["POST", "/api/auth/confirm", [200, 400, 401, 403, 413, 415, 429]],
  ["POST", "/api/auth/confirm/passkey", [200, 400, 401, 403, 413, 415, 429]],
  ["POST", "/api/auth/confirm/passkey/options", [200, 400, 401, 403, 429]],
  ["POST", "/api/auth/confirm/provider", [200, 400, 401, 403, 404, 413, 415, 429, 503]],
  ["GET", "/api/auth/methods", [200, 429]],
  ["POST", "/api/auth/password/forgot", [200, 400, 413, 415, 429]],
  ["POST", "/api/auth/password/reset", [200, 400, 401, 413, 415, 429]],
  ["GET", "/api/auth/oidc/start", [302, 400, 404, 429, 503]],
  ["GET", "/api/auth/oidc/callback", [302, 400, 401, 403, 404, 429, 503]],
  ["POST", "/api/auth/oidc/token", [200, 400, 401, 403, 404, 413, 415, 429]],
  ["GET", "/api/auth/oidc/link", [200, 401, 404, 429]],
  ["POST", "/api/auth/oidc/link", [200, 400, 401, 404, 413, 415, 429, 503]],
  ["DELETE", "/api/auth/oidc/link", [200, 400, 401, 404, 413, 415, 429]],
  ["GET", "/api/files", [200, 400, 401, 404, 429]],
  ["POST", "/api/files/upload", [201, 400, 401, 403, 409, 413, 415, 429, 507]],
  ["GET", "/api/shares/received", [200, 401, 429]],
  ["DELETE", "/api/shares/received/{id}", [200, 400, 401, 403, 404, 429]],
  ["GET", "/api/files/tags", [200, 401, 429]],
  ["POST", "/api/files/tags", [200, 400, 401, 403, 404, 413, 415, 429]],
  ["GET", "/api/files/search", [200, 400, 401, 404, 429, 503]],
  ["GET", "/api/photos", [200, 400, 401, 404, 429, 503]],
  ["GET", "/api/photos/timeline", [200, 400, 401, 404, 429, 503]],
  ["GET", "/api/files/{id}", [200, 401, 404, 429]],
  ["GET", "/api/files/{id}/download", [200, 206, 304, 400, 401, 404, 412, 416, 429, 503]],
  ["PUT", "/api/files/{id}", [200, 400, 401, 403, 404, 409, 412, 413, 415, 429]],
  ["DELETE", "/api/files/{id}", [200, 401, 403, 404, 429]],
  ["PUT", "/api/files/{id}/content", [200, 401, 403, 404, 409, 412, 413, 429, 507]],
  ["GET", "/api/files/{id}/checksum", [200, 401, 404, 429]],
  ["GET", "/api/files/{id}/versions", [200, 401, 404, 429]],
  ["GET", "/api/files/recent", [200, 400, 401, 429]],
  ["POST", "/api/files/{id}/opened", [200, 401, 404, 429]],
  ["GET", "/api/files/{id}/activity", [200, 400, 401, 404, 429]],
  ["GET", "/api/files/{id}/versions/{version}/download", [200, 206, 304, 400, 401, 404, 412, 416, 429, 503]],
  ["POST", "/api/files/{id}/versions/{version}/restore", [200, 400, 401, 403, 404, 412, 413, 429]],
  ["DELETE", "/api/files/{id}/versions/{version}", [200, 400, 401, 403, 404, 409, 429]],
  ["POST", "/api/files/restore", [200, 400, 401, 403, 404, 413, 415, 429]],
  ["POST", "/api/files/folders", [201, 400, 401, 403, 409, 413, 415, 429]],
  ["GET", "/api/files/folders/{id}", [200, 401, 404, 429]],
  ["PUT", "/api/files/folders/{id}", [200, 400, 401, 403, 404, 409, 415, 429]],
  ["DELETE", "/api/files/folders/{id}", [200, 400, 401, 403, 404, 409, 429]],
  ["GET", "/api/files/folders/{id}/archive", [200, 206, 304, 400, 401, 404, 412, 416, 429]],
  ["POST", "/api/files/archive", [200, 400, 401, 404, 412, 413, 415, 429]],
  ["POST", "/api/files/trash", [200, 400, 401, 403, 404, 413, 415, 429]],
  ["GET", "/api/files/trash", [200, 400, 401, 429]],
  ["POST", "/api/files/trash/restore", [200, 400, 401, 403, 404, 413, 415, 429]],
  ["DELETE", "/api/files/trash", [200, 401, 403, 429]],
  ["DELETE", "/api/files/trash/{id}", [200, 401, 403, 404, 429]],
  ["POST", "/api/files/move", [200, 400, 401, 403, 404, 409, 415, 429]],
  ["POST", "/api/files/copy", [201, 400, 401, 403, 404, 409, 413, 415, 429]],
  ["GET", "/api/users/profile", [200, 401, 429]],
  ["PUT", "/api/users/profile", [200, 400, 401, 409, 415, 429]],
  ["DELETE", "/api/users/profile", [200, 400, 401, 415, 429]],
  ["GET", "/api/users/usage", [200, 401, 429]],
  ["GET", "/api/users/usage/rate-limits", [200, 401, 429]],
  ["GET", "/api/users/settings", [200, 401, 429]],
  ["PUT", "/api/users/settings", [200, 400, 401, 415, 429]],
  ["GET", "/api/users/sessions", [200, 401, 429]],
  ["DELETE", "/api/users/sessions/{id}", [200, 401, 404, 429]],
  ["POST", "/api/users/api-keys", [201, 400, 401, 403, 413, 415, 429]],
  ["GET", "/api/users/api-keys", [200, 401, 403, 429]],
  ["DELETE", "/api/users/api-keys/{id}", [200, 401, 403, 404, 429]],
  ["GET", "/api/users/two-factor", [200, 401, 403, 429]],
  ["POST", "/api/users/two-factor/setup", [200, 400, 401, 403, 413, 415, 429]],
  ["POST", "/api/users/two-factor/enable", [200, 400, 401, 403, 413, 415, 429]],
  ["POST", "/api/users/two-factor/disable", [200, 400, 401, 403, 413, 415, 429]],
  ["POST", "/api/users/two-factor/recovery-codes", [200, 400, 401, 403, 413, 415, 429]],
  ["GET", "/api/users/passkeys", [200, 401, 403, 429]],
  ["POST", "/api/users/passkeys/options", [200, 400, 401, 403, 413, 415, 429]],
  ["POST", "/api/users/passkeys", [201, 400, 401, 403, 413, 415, 429]],
  ["PATCH", "/api/users/passkeys/{id}", [200, 400, 401, 403, 404, 413, 415, 429]],
  ["DELETE", "/api/users/passkeys/{id}", [200, 401, 403, 404, 429]],
  ["POST", "/api/auth/passkey/options", [200, 429]],
  ["POST", "/api/auth/passkey/verify", [200, 400, 401, 403, 413, 415, 429]],
  ["POST", "/api/files/{id}/shares", [201, 400, 401, 403, 404, 413, 415, 429]],
  ["GET", "/api/files/{id}/shares", [200, 401, 403, 404, 429]],
  ["POST", "/api/files/folders/{id}/shares", [201, 400, 401, 403, 404, 413, 415, 429]],
  ["GET", "/api/files/folders/{id}/shares", [200, 401, 403, 404, 429]],
  ["GET", "/api/shares", [200, 400, 401, 429]],
  ["GET", "/api/shares/{id}", [200, 401, 404, 429]],
  ["PATCH", "/api/shares/{id}", [200, 400, 401, 403, 404, 413, 415, 429]],
  ["DELETE", "/api/shares/{id}", [200, 401, 403, 404, 429]],
  ["GET", "/api/public/{token}", [200, 401, 404, 410, 429]],
  ["GET", "/api/public/{token}/download", [200, 206, 304, 401, 403, 404, 410, 412, 416, 429]],
  ["GET", "/api/public/{token}/files", [200, 400, 401, 403, 404, 410, 429]],
  ["POST", "/api/public/{token}/unlock", [200, 400, 401, 404, 410, 413, 415, 429]],
  ["POST", "/api/public/{token}/upload", [201, 400, 401, 403, 404, 410, 413, 415, 429, 507]],
  ["GET", "/api/tus", [200, 401, 403, 429]],
  ["POST", "/api/tus", [201, 400, 401, 403, 404, 409, 412, 413, 415, 429, 460, 507]],
  ["GET", "/api/tus/{uploadId}", [200, 400, 401, 403, 404, 409, 410, 412, 429, 507]],
  ["PATCH", "/api/tus/{uploadId}", [204, 400, 401, 403, 404, 409, 410, 412, 413, 415, 429, 460, 507]],
  ["POST", "/api/tus/{uploadId}", [200, 204, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 429, 460, 507]],
  ["DELETE", "/api/tus/{uploadId}", [204, 401, 403, 404, 410, 412, 429]],
  ["POST", "/api/public/{token}/tus", [201, 400, 401, 403, 404, 409, 410, 412, 413, 415, 429, 460, 507]],
  ["GET", "/api/public/{token}/tus/{uploadId}", [200, 400, 401, 403, 404, 409, 410, 412, 429, 507]],
  ["PATCH", "/api/public/{token}/tus/{uploadId}", [204, 400, 401, 403, 404, 409, 410, 412, 413, 415, 429, 460, 507]],
  ["POST", "/api/public/{token}/tus/{uploadId}", [200, 204, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 460]],
  ["DELETE", "/api/public/{token}/tus/{uploadId}", [204, 401, 403, 404, 410, 412, 429]],
  ["POST", "/api/mobile/auth/register", [200, 400, 401, 403, 413, 415, 429]],
  ["POST", "/api/mobile/auth", [200, 400, 401, 403, 404, 413, 415, 429]],
  ["POST", "/api/mobile/auth/refresh", [200, 400, 401, 413, 415, 429]],
  ["GET", "/api/mobile/devices", [200, 401, 429]],
  ["PUT", "/api/mobile/devices/{deviceId}/settings", [200, 400, 401, 404, 413, 415, 429]],
  ["DELETE", "/api/mobile/devices/{deviceId}", [200, 401, 404, 429]],
  ["POST", "/api/mobile/devices/{deviceId}/rewind", [200, 400, 401, 403, 404, 413, 415, 429]],
  ["GET", "/api/mobile/sync/status", [200, 400, 401, 429]],
  ["GET", "/api/mobile/sync", [200, 400, 401, 429]],
  ["POST", "/api/mobile/sync/files", [200, 400, 401, 403, 413, 415, 429]],
  ["POST", "/api/mobile/conflicts/resolve", [200, 400, 401, 403, 413, 415, 429]],
  ["POST", "/api/mobile/upload", [201, 400, 401, 403, 409, 413, 415, 429, 507]],
  ["POST", "/api/mobile/upload/init", [200, 400, 401, 403, 404, 409, 413, 415, 429, 507]],
  ["POST", "/api/mobile/upload/progress", [200, 400, 401, 403, 404, 409, 413, 415, 429]],
  ["POST", "/api/mobile/upload/complete", [200, 400, 401, 403, 404, 409, 410, 413, 415, 429, 507]],
  ["GET", "/api/mobile/upload/{uploadId}", [200, 401, 404, 429]],
  ["DELETE", "/api/mobile/upload/{uploadId}", [200, 401, 403, 404, 429]],
  ["POST", "/api/mobile/queue/add", [200, 400, 401, 403, 413, 415, 429]],
  ["GET", "/api/mobile/queue", [200, 400, 401, 429]],
  ["POST", "/api/mobile/notifications/register", [200, 400, 401, 404, 413, 415, 429]],
  ["GET", "/api/mobile/notifications", [200, 400, 401, 429]],
  ["POST", "/api/mobile/notifications/read", [200, 400, 401, 413, 415, 429]],
  ["GET", "/api/mobile/notifications/config", [200, 401, 429]],
  ["POST", "/api/mobile/push", [200, 400, 401, 403, 404, 413, 415, 429]],
  ["GET", "/api/users/activity", [200, 400, 401, 429]],
  ["GET", "/api/admin/users", [200, 400, 401, 403, 429]],
  ["POST", "/api/admin/users", [201, 400, 401, 403, 409, 413, 415, 429]],
  ["GET", "/api/admin/users/{id}", [200, 401, 403, 404, 429]],
  ["PATCH", "/api/admin/users/{id}", [200, 400, 401, 403, 404, 409, 413, 415, 429]],
  ["DELETE", "/api/admin/users/{id}", [200, 401, 403, 404, 409, 429]],
  ["GET", "/api/admin/users/{id}/sessions", [200, 401, 403, 404, 429]],
  ["DELETE", "/api/admin/users/{id}/sessions", [200, 401, 403, 404, 429]],
  ["DELETE", "/api/admin/users/{id}/sessions/{sessionId}", [200, 401, 403, 404, 429]],
  ["GET", "/api/admin/users/{id}/devices", [200, 401, 403, 404, 429]],
  ["DELETE", "/api/admin/users/{id}/devices/{deviceId}", [200, 401, 403, 404, 429]],
  ["GET", "/api/admin/users/{id}/usage", [200, 401, 403, 404, 429]],
  ["DELETE", "/api/admin/users/{id}/two-factor", [200, 401, 403, 404, 429]],
  ["POST", "/api/admin/users/{id}/reset-link", [200, 401, 403, 404, 429]],
  ["GET", "/api/admin/invites", [200, 400, 401, 403, 429]],
  ["POST", "/api/admin/invites", [201, 400, 401, 403, 409, 413, 415, 429]],
  ["DELETE", "/api/admin/invites/{id}", [200, 401, 403, 404, 429]],
  ["GET", "/api/admin/stats", [200, 401, 403, 429]],
  ["GET", "/api/admin/stats/history", [200, 400, 401, 403, 429]],
  ["GET", "/api/admin/health", [200, 401, 403, 429]],
  ["GET", "/api/admin/config", [200, 401, 403, 429]],
  ["GET", "/api/admin/plans", [200, 401, 403, 429]],
  ["GET", "/api/admin/jobs", [200, 401, 403, 429]],
  ["POST", "/api/admin/jobs/{name}/run", [200, 401, 403, 404, 429]],
  ["GET", "/api/admin/findings", [200, 400, 401, 403, 429]],
  ["GET", "/api/admin/audit", [200, 400, 401, 403, 429]],
  ["GET", "/api/admin/audit/export", [200, 400, 401, 403, 429]],
];

/** A path template without the names of its parameters. */
function withoutNames(template: string): string {
  return template.replaceAll(/\{[^}]+\}/g, "{}");
}

describe("/openapi.json", () => {
  test("is valid OpenAPI 3 and public", async () => {
    const apiResponse = await server().visitor.get("/openapi.json");
    expectStatus(apiResponse, 200);
    expect(apiResponse.string("openapi")).toMatch(/^3\./);
    expect(await ApiDocument.validate(server().url)).toBe("");
    expect((await load()).operations.length).toBeGreaterThan(endpoints.length);
  });

  test.each(endpoints)("describes %s %s with all its statuses", async (method, path, statuses) => {
    const document = await load();
    const operation = document.operations.find(
      (one) => one.method === method && withoutNames(one.template) === withoutNames(path),
    );
    expect(operation).toBeDefined();
    const documented = Object.keys(operation?.responses ?? {});
    expect(statuses.map(String).filter((status) => !documented.includes(status))).toEqual([]);
  });

  test("has a schema for every JSON response, errors included", async () => {
    const document = await load();
    const bare: string[] = [];
    for (const operation of document.operations)
      for (const [status, response] of Object.entries(operation.responses)) {
        if (!operation.template.startsWith("/api/") || Number(status) < 400) continue;
        const content = asObject(asObject(response)?.["content"]);
        const schema = asObject(asObject(content?.["application/json"])?.["schema"]);
        if (schema === undefined) bare.push(`${operation.method} ${operation.template} ${status}`);
      }
    expect(bare).toEqual([]);
  });

  test("lists security schemes, describes every operation, and gives each a unique id", async () => {
    const document = await load();
    const schemes = asObject(asObject(document.document["components"])?.["securitySchemes"]) ?? {};
    expect(Object.values(schemes).map((scheme) => asObject(scheme)?.["type"])).toContain("http");
    const ids: string[] = [];
    const undescribed: string[] = [];
    for (const [path, item] of Object.entries(asObject(document.document["paths"]) ?? {}))
      for (const [method, operation] of Object.entries(asObject(item) ?? {})) {
        const { operationId, summary, description } = asObject(operation) ?? {};
        if (typeof operationId === "string") ids.push(operationId);
        if (path.startsWith("/api/") && summary === undefined && description === undefined)
          undescribed.push(`${method} ${path}`);
      }
    expect(undescribed).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("lists the reasons of errors", async () => {
    const { text } = await server().visitor.get("/openapi.json");
    for (const reason of [
      "invalid_json",
      "invalid_field",
      "checksum_mismatch",
      "invalid_path",
      "not_a_folder",
      "missing_token",
      "invalid_token",
      "revoked_token",
      "bad_credentials",
      "role",
      "csrf",
      "account_disabled",
      "signup_closed",
      "method_not_allowed",
      "email_taken",
      "name_taken",
      "folder_not_empty",
      "idempotency_key",
      "precondition_failed",
      "file_too_large",
      "quota_exceeded",
      "body_too_large",
      "unsupported_media_type",
      "range_not_satisfiable",
      "thumbnail_pending",
      "disk_full",
    ])
      expect({ reason, listed: text.includes(`"${reason}"`) || text.includes(reason) }).toEqual({
        reason,
        listed: true,
      });
  });

  test("equals the output of `larder openapi`", async () => {
    const { code, stdout } = await runLarder(["openapi"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual((await server().visitor.get("/openapi.json")).json);
  });
});
