// Which tab owns which upload. A tab holds a lock with its name as long as it is open. Another tab that gets the lock
// knows that the first is closed, even after a crash. Without Web Locks (plain HTTP), only a reload of the same tab
// takes over its uploads.

/** The name of this tab, and events of other tabs. */
export interface TabOwnership {
  readonly id: string;
  /** Runs `take` when that tab is closed, in one tab at a time. Never runs without Web Locks. */
  whenClosed(tab: string, take: () => Promise<void>): Promise<void>;
  /** Reports tabs that are open or opened later. */
  onOtherTab(listener: (tab: string) => void): void;
}

interface TabMessage {
  readonly tab: string;
  readonly isReply: boolean;
}

const NAME = "larder-upload-tab";
const lockName = (tab: string): string => `${NAME}:${tab}`;

/** Makes this page the owner of its tab's uploads. The name survives a reload. A duplicated tab gets a new one. */
export async function ownTab(): Promise<TabOwnership> {
  const remembered = sessionStorage.getItem(NAME);
  // Missing in insecure contexts, although its type says otherwise.
  const locks: LockManager | undefined = "locks" in navigator ? navigator.locks : undefined;
  const id = remembered !== null && (await holdLock(locks, remembered)) ? remembered : newId();
  if (id !== remembered) await holdLock(locks, id);
  sessionStorage.setItem(NAME, id);
  const channel = new BroadcastChannel(NAME);
  const greet = (isReply: boolean): void => channel.postMessage({ tab: id, isReply } satisfies TabMessage);
  return {
    id,
    whenClosed: async (tab, take) => {
      if (locks !== undefined) await locks.request(lockName(tab), take);
    },
    onOtherTab: (listener) => {
      channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
        if (!data.isReply) greet(true);
        listener(data.tab);
      };
      greet(false);
    },
  };
}

/** A random id. `crypto.randomUUID` is missing on plain HTTP. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Takes the lock as long as the page is open; false if another tab has it. Waits briefly for a page that is being
 * closed.
 */
async function holdLock(locks: LockManager | undefined, tab: string): Promise<boolean> {
  if (locks === undefined) return true;
  const { promise: untilClosed } = Promise.withResolvers<never>();
  return new Promise((resolve) => {
    locks
      .request(lockName(tab), { signal: AbortSignal.timeout(2000) }, () => {
        resolve(true);
        return untilClosed;
      })
      .catch(() => resolve(false));
  });
}
