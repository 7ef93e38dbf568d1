/**
 * Name of the environment variable that holds a session token of temporary Amazon keys, or undefined. Bun's client adds
 * that token to every request, for any keys, and has no option against it.
 */
export function findSessionToken(): string | undefined {
  return ["S3_SESSION_TOKEN", "AWS_SESSION_TOKEN"].find((name) => (process.env[name] ?? "") !== "");
}
