/**
 * The name of the environment variable that holds a session token for temporary Amazon keys; undefined if none is set.
 * Bun's S3 client adds that token to every request, with any keys, and has no option to prevent it.
 */
export function findSessionToken(): string | undefined {
  return ["S3_SESSION_TOKEN", "AWS_SESSION_TOKEN"].find((name) => (process.env[name] ?? "") !== "");
}
