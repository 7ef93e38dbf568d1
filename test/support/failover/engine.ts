// The object store of a round: Ceph, or the S3 service of the tests.
import { join } from "node:path";
import { TestS3 } from "../s3-server.ts";

/** An object store that can be made to fail. */
export interface ObjectStore {
  readonly name: string;
  /** The settings of a server that reaches it at this address, as environment variables. */
  settings(address: string): Record<string, string>;
  /** It accepts requests, and does not respond any more. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** It ends without warning. */
  kill(): Promise<void>;
  revive(): Promise<void>;
  close(): Promise<void>;
}

const BUCKET = "larder";
/** Below the ports that the kernel gives to clients. */
const CEPH_PORT = 7480;

/** A Ceph in a directory. It must run in a network namespace of its own, or be the only one on the machine. */
export class Ceph implements ObjectStore {
  readonly name = "Ceph";

  private constructor(private readonly directory: string) {}

  /** Whether its programs are installed. */
  static isInstalled(): boolean {
    return ["ceph-mon", "ceph-mgr", "ceph-osd", "radosgw", "radosgw-admin", "curl"].every(
      (program) => Bun.which(program) !== null,
    );
  }

  static async start(directory: string): Promise<Ceph> {
    await runScript(["start", directory, "0.0.0.0", String(CEPH_PORT)]);
    return new Ceph(directory);
  }

  settings(address: string): Record<string, string> {
    return {
      LARDER_S3_ENDPOINT: `http://${address}:${CEPH_PORT}`,
      LARDER_S3_BUCKET: BUCKET,
      LARDER_S3_PREFIX: "blobs/",
      LARDER_S3_ACCESS_KEY_ID: "LARDERKEY",
      LARDER_S3_SECRET_ACCESS_KEY: "larder-secret-of-the-tests",
    };
  }

  freeze = () => runScript(["freeze", this.directory]);
  thaw = () => runScript(["thaw", this.directory]);
  kill = () => runScript(["kill", this.directory]);
  revive = () => runScript(["revive", this.directory]);
  close = () => runScript(["stop", this.directory]);
}

async function runScript(args: readonly string[]): Promise<void> {
  // Not a pipe for the output: the daemons would hold it open.
  const child = Bun.spawn(["bash", join(import.meta.dir, "ceph.sh"), ...args], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  const code = await child.exited;
  if (code !== 0) throw new Error(`ceph.sh ${args.join(" ")} ended with ${code}`);
}

/** The S3 service of the tests, in this process. */
export class TestStore implements ObjectStore {
  readonly name = "the S3 service of the tests";

  private constructor(readonly service: TestS3) {}

  /** @param hostname where it listens */
  static async start(hostname: string): Promise<TestStore> {
    return new TestStore(await TestS3.start({ hostname }));
  }

  settings(address: string): Record<string, string> {
    const { LARDER_BLOBS_STORE: _, ...settings } = this.service.settings;
    const { port } = new URL(settings["LARDER_S3_ENDPOINT"] ?? "");
    return { ...settings, LARDER_S3_ENDPOINT: `http://${address}:${port}` };
  }

  async freeze(): Promise<void> {
    this.service.behavior = "hanging";
  }

  async thaw(): Promise<void> {
    this.service.behavior = "well";
  }

  async kill(): Promise<void> {
    this.service.behavior = "failing";
  }

  async revive(): Promise<void> {
    this.service.behavior = "well";
  }

  async close(): Promise<void> {
    await this.service.stop();
  }
}
