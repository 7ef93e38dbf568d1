import type { Hold, LocalChange } from "../../../../src/features/mobile/mass-change/types.ts";
import { QueueService } from "../../../../src/features/mobile/offline-queue/service.ts";
import type { NewOperation } from "../../../../src/features/mobile/offline-queue/types.ts";
import { QueueWorker } from "../../../../src/features/mobile/offline-queue/worker.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { TestTree } from "../../tree/support.ts";

/** A brake that holds what a test says. */
export class FakeMassChangeGuard {
  holds: Hold | undefined = undefined;
  readonly asked: LocalChange[] = [];

  admit(_tx: unknown, _device: unknown, _accountId: number, changes: readonly LocalChange[]): Hold | undefined {
    this.asked.push(...changes);
    return this.holds;
  }

  find(): Hold | undefined {
    return this.holds;
  }
}

/** A queue over a real database with one account and a device of it. */
export class TestQueue {
  readonly tree = new TestTree();
  readonly massChangeGuard = new FakeMassChangeGuard();
  readonly user: User;
  readonly device: { readonly id: number; readonly publicId: string; readonly name: string };
  readonly queue: QueueService;
  readonly worker: QueueWorker;
  /** Nodes whose counts were forgotten, in the order of their deletion. */
  readonly deleted: number[] = [];

  constructor() {
    const { tree, massChangeGuard } = this;
    const id = tree.addAccount();
    this.user = {
      id,
      publicId: `usr_${id}`,
      email: "a@example.com",
      name: "A",
      role: "user",
      plan: "free",
      createdAtMs: 0,
      disabledAtMs: null,
      quotaBytes: null,
    };
    this.device = this.addDevice("phone");
    this.queue = new QueueService({
      sqlite: tree.db.sqlite,
      writer: tree.writer,
      clock: tree.clock,
      log: silentLog,
      tree: tree.read,
      treeWriter: tree.write,
      users: { findById: () => this.user },
      access: { forget: (nodeId) => void this.deleted.push(nodeId) },
      massChangeGuard,
    });
    this.worker = new QueueWorker({ queue: this.queue, log: silentLog });
  }

  addDevice(publicId: string) {
    const row = this.tree.db.sqlite
      .query<{ id: number }, [number, string]>(
        `INSERT INTO devices (user_id, public_id, name, platform, registered_at, last_active_at)
         VALUES (?1, ?2, 'Phone', 'android', 0, 0) RETURNING id`,
      )
      .get(this.user.id, publicId);
    return { id: row?.id ?? 0, publicId, name: "Phone" };
  }

  /** A delete of this file with defaults for the rest. */
  deleteOf(fileId: string, changes: Partial<NewOperation> = {}): NewOperation {
    return { id: `op-${fileId}`, type: "delete", priority: "normal", createdAtMs: this.nowMs, fileId, ...changes };
  }

  /** An upload to this path with defaults for the rest. */
  uploadTo(remotePath: string, changes: Partial<NewOperation> = {}): NewOperation {
    const id = `op-${remotePath}`;
    return { id, type: "upload", priority: "normal", createdAtMs: this.nowMs, remotePath, ...changes };
  }

  get nowMs(): number {
    return this.tree.clock.nowMs();
  }

  /** Adds operations; their statuses, or the reasons for which they were not taken. */
  async add(...operations: NewOperation[]): Promise<string[]> {
    const added = await this.queue.add(this.user, this.device, operations);
    return added.map(({ status, error }) => error?.reason ?? status);
  }

  /** Carries out all that can be. */
  async serveAll(deviceId = this.device.id): Promise<void> {
    while (await this.queue.executeNext(deviceId, 0));
  }

  /** `id status reason` of the device's operations. */
  states(): string[] {
    const { operations } = this.queue.list(this.device, { status: undefined, offset: 0, limit: 100 });
    return operations.map(({ id, status, error }) => [id, status, error?.reason].filter(Boolean).join(" "));
  }

  /** Puts a file in place and tells of it, as the tree does. */
  arrive(folder: string, name: string): void {
    this.tree.addFile(this.user.id, folder, name, { onConflict: "version" });
    this.tree.run((tx) => this.queue.onFileStored(tx, this.user.id, () => `${folder === "/" ? "" : folder}/${name}`));
  }
}
