// Which tab has which upload in hand. A tab holds a lock under its name for as long as it lives; who gets that lock knows
// that the tab is gone, however it went. Without Web Locks (plain HTTP) only a reload of the same tab takes over.

/** The name of this tab, and the coming and going of others. */
export interface TabOwnership {
  readonly id: string;
  /** Does `take` when that tab is gone, one tab at a time; never where the browser can't tell. */
  whenClosed(tab: string, take: () => Promise<void>): Promise<void>;
  /** Tells of tabs that are there or come later. */
  onOtherTab(listener: (tab: string) => void): void;
}

interface Greeting {
  readonly tab: string;
  readonly isAnswer: boolean;
}

const NAME = "larder-upload-tab";
const lockName = (tab: string): string => `${NAME}:${tab}`;

/**
 * Makes this page the owner of its tab's uploads. The name survives a reload; a tab that was doubled with its storage gets
 * another one.
 */
export async function ownTab(): Promise<TabOwnership> {
  const remembered = sessionStorage.getItem(NAME);
  // Not there in insecure contexts, whatever the types say.
  const locks: LockManager | undefined = "locks" in navigator ? navigator.locks : undefined;
  const id = remembered !== null && (await holdLock(locks, remembered)) ? remembered : newId();
  if (id !== remembered) await holdLock(locks, id);
  sessionStorage.setItem(NAME, id);
  const channel = new BroadcastChannel(NAME);
  const greet = (isAnswer: boolean): void => channel.postMessage({ tab: id, isAnswer } satisfies Greeting);
  return {
    id,
    whenClosed: async (tab, take) => {
      if (locks !== undefined) await locks.request(lockName(tab), take);
    },
    onOtherTab: (listener) => {
      channel.onmessage = ({ data }: MessageEvent<Greeting>) => {
        if (!data.isAnswer) greet(true);
        listener(data.tab);
      };
      greet(false);
    },
  };
}

/** A random id; `crypto.randomUUID` isn't there on plain HTTP. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Takes the lock for the life of the page; false where another has it. A page that is just being left gets a moment. */
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
