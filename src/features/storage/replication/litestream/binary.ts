/** Finds Litestream, the program that replicates the database. */
import { StartupError } from "../../../../config/startup-error.ts";
import { messageOf } from "../../../../lib/error.ts";

/**
 * The only version that is used. Where a commit is in the bucket is read from its log and its files, and version 0.5
 * writes another format.
 */
export const LITESTREAM_VERSION = "0.3.13";

const ADVICE = `Get version ${LITESTREAM_VERSION} from https://github.com/benbjohnson/litestream/releases/tag/v${LITESTREAM_VERSION}, and set replica.litestream to its path.`;

/**
 * The path of Litestream.
 * @param configured the setting `replica.litestream`; null to look on PATH
 * @throws StartupError if there is none, or another version
 */
export async function findLitestream(configured: string | null): Promise<string> {
  const path = configured ?? Bun.which("litestream");
  if (path === null) throw new StartupError(`replica requires Litestream, which is not on PATH. ${ADVICE}`);
  const version = await readVersion(path);
  if (version === LITESTREAM_VERSION) return path;
  throw new StartupError(`${path} is Litestream ${version}; only ${LITESTREAM_VERSION} is supported. ${ADVICE}`);
}

/**
 * A command that runs a program, and kills it when this process ends, also after a crash. `setpriv` of util-linux does that,
 * where it is installed.
 */
export function withinLifetime(program: string): readonly string[] {
  const setpriv = Bun.which("setpriv");
  if (setpriv === null) return [program];
  const prefix = [setpriv, "--pdeathsig", "KILL", "--"];
  const { exitCode } = Bun.spawnSync([...prefix, setpriv, "--version"], { stdio: ["ignore", "ignore", "ignore"] });
  // Others than that of util-linux do not know the option.
  return exitCode === 0 ? [...prefix, program] : [program];
}

async function readVersion(path: string): Promise<string> {
  try {
    const child = Bun.spawn([path, "version"], { env: {}, stdin: "ignore", stderr: "ignore", timeout: 10_000 });
    const text = await child.stdout.text();
    return text.trim().replace(/^v/, "").slice(0, 40) || "of an unknown version";
  } catch (error) {
    throw new StartupError(`Cannot run ${path}: ${messageOf(error)}. ${ADVICE}`, error);
  }
}
