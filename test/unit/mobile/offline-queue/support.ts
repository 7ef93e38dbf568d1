import type { Hold, LocalChange } from "../../../../src/features/mobile/mass-change/types.ts";
import { QueueService } from "../../../../src/features/mobile/offline-queue/service.ts";
import type { NewOperation } from "../../../../src/features/mobile/offline-queue/types.ts";
import { QueueWorker } from "../../../../src/features/mobile/offline-queue/worker.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { TestTree } from "../../tree/support.ts";

/** A mass-change guard that returns the hold that a test sets. */
export class FakeMassChangeGuard {
  hold: Hold | undefined = undefined;
  readonly checked: LocalChange[] = [];

  admit(_tx: unknown, _device: unknown, _accountId: number, changes: readonly LocalChange[]): Hold | undefined {
    this.checked.push(...changes);
    return this.hold;
  }

  find(): Hold | undefined {
    return this.hold;
  }
}

/** A queue in a real database with an account and its device. */
export class TestQueue {
  readonly tree = new TestTree();
  readonly massChangeGuard = new FakeMassChangeGuard();
  readonly user: User;
  readonly device: { readonly id: number; readonly publicId: string; readonly name: string };
  readonly queue: QueueService;
  readonly worker: QueueWorker;
  /** Nodes whose access counts were dropped, in the order of their deletion. */
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

  /** A delete operation for this file. */
  deleteOf(fileId: string, changes: Partial<NewOperation> = {}): NewOperation {
    return { id: `op-${fileId}`, type: "delete", priority: "normal", createdAtMs: this.nowMs, fileId, ...changes };
  }

  /** An upload operation for this path. */
  uploadTo(remotePath: string, changes: Partial<NewOperation> = {}): NewOperation {
    const id = `op-${remotePath}`;
    return { id, type: "upload", priority: "normal", createdAtMs: this.nowMs, remotePath, ...changes };
  }

  get nowMs(): number {
    return this.tree.clock.nowMs();
  }

  /** Adds operations. @returns their statuses, or the reasons of their errors */
  async add(...operations: NewOperation[]): Promise<string[]> {
    const added = await this.queue.add(this.user, this.device, operations);
    return added.map(({ status, error }) => error?.reason ?? status);
  }

  /** Executes all executable operations. */
  async executeAll(deviceId = this.device.id): Promise<void> {
    while (await this.queue.executeNext(deviceId, 0));
  }

  /** `id status reason` of the device's operations. */
  states(): string[] {
    const { operations } = this.queue.list(this.device, { status: undefined, offset: 0, limit: 100 });
    return operations.map(({ id, status, error }) => [id, status, error?.reason].filter(Boolean).join(" "));
  }

  /** Stores a file and notifies the queue, like the tree. */
  storeFile(folder: string, name: string): void {
    this.tree.addFile(this.user.id, folder, name, { onConflict: "version" });
    this.tree.run((tx) => this.queue.onFileStored(tx, this.user.id, () => `${folder === "/" ? "" : folder}/${name}`));
  }
}
