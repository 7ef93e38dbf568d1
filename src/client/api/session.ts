/**
 * The session of this browser. It is held by a cookie that no script can read; the page only knows what the server
 * reports.
 */
import { ApiError, request, setSignInGate } from "./http.ts";
import { queryClient } from "./query-client.ts";
import type { Session, User } from "./types.ts";
import { basePath, currentAddress, href } from "../base/address.ts";
import { openDocument } from "../base/overlays.ts";
import { notifyTabs, onTabMessage } from "./tabs.ts";
import { createStore, useStore } from "../base/store.ts";
import { ignore } from "../base/ignore.ts";

/** The signed-in user and the session. */
interface SignedInUser {
  readonly user: User;
  readonly session: Session;
}

/**
 * What the page knows about the session. `isLost`: the session ended while the page was open, and the page waits for
 * the person to sign in again.
 */
type SessionState =
  | { readonly status: "unknown" | "signed-out" }
  | (SignedInUser & { readonly status: "signed-in"; readonly isLost: boolean });

/** What a sign-out of an account would lose. @returns what to do after it; undefined to stay signed in */
type SignOutCheck = (userId: string) => Promise<(() => Promise<void>) | undefined>;

const LONGEST_TIMER_MS = 2 ** 31 - 1;
const store = createStore<SessionState>({ status: "unknown" });
let renewalTimer: ReturnType<typeof setTimeout> | undefined;
let renewalDueMs = Number.POSITIVE_INFINITY;
let recovery: Promise<boolean> | undefined;
let askBeforeSignOut: SignOutCheck = () => Promise.resolve(nothing);

/**
 * The signed-in user, on pages that require sign-in.
 * @throws Error on other pages
 */
export function useSession(): SignedInUser {
  const state = useStore(store);
  if (state.status !== "signed-in") throw new Error("This part of the page is for signed-in people.");
  return state;
}

/** Whether the signed-in user may change files. */
export function useCanWrite(): boolean {
  return useSession().user.role !== "viewer";
}

/** The state of the session, on any page. */
export function useSessionState(): SessionState {
  return useStore(store);
}

/** The current state of the session, outside of React. */
export function sessionState(): SessionState {
  return store.get();
}

/**
 * Fetches the signed-in user from the server.
 * @returns undefined if nobody is signed in
 * @throws ApiError, OfflineError if the server could not respond
 */
export async function loadSession(): Promise<SignedInUser | undefined> {
  try {
    const [{ session }, user] = await Promise.all([
      request<{ session: Session }>("GET", "/api/auth/session"),
      request<User>("GET", "/api/users/profile", { waitsForSignIn: false }),
    ]);
    if (isOtherUser(user.id)) return await reloadForOtherUser();
    store.set({ status: "signed-in", user, session, isLost: false });
    setSignInGate(recover);
    planRenewal(session);
    return { user, session };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    const state = store.get();
    if (state.status !== "signed-in") store.set({ status: "signed-out" });
    return undefined;
  }
}

/** Call after every sign-in. Loads the user and notifies the other tabs. */
export async function afterSignIn(): Promise<SignedInUser | undefined> {
  const signedIn = await loadSession();
  if (signedIn !== undefined) notifyTabs({ kind: "signed-in", userId: signedIn.user.id });
  return signedIn;
}

/** Resolves when somebody is signed in: immediately, or after the person has signed in again. */
export async function whenSignedIn(): Promise<void> {
  if (isSignedIn()) return;
  await new Promise<void>((resolve) => {
    const stop = store.subscribe(() => {
      if (!isSignedIn()) return;
      stop();
      resolve();
    });
  });
}

/**
 * For requests that do not go through `request` (tus uploads): call it when a response says that the session has ended.
 * @returns true once there is a session again
 */
export function recoverSession(): Promise<boolean> {
  return recover();
}

/** Sets what is asked before each sign-out. */
export function setSignOutCheck(ask: SignOutCheck): void {
  askBeforeSignOut = ask;
}

/**
 * Ends the session here and in the other tabs, and goes to the sign-in page, unless the person decides to stay.
 * @param next the address to open after the next sign-in
 * @throws ApiError, OfflineError
 */
export async function signOut(next?: string): Promise<void> {
  const state = store.get();
  // If the question can't be asked, the person must still get out.
  const forget = state.status === "signed-in" ? await askBeforeSignOut(state.user.id).catch(() => nothing) : nothing;
  if (forget === undefined) return;
  // The server stops sending anyway; this discards what is still on its way. Not awaited: a push service may be away.
  void import("../base/push-subscription.ts").then((push) => push.endSubscription()).catch(ignore);
  // 401: the session has ended already, which has the same result.
  await request("POST", "/api/auth/signout", { body: { everywhere: false } }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
  });
  // The other tabs first, so that they store nothing after it was deleted.
  notifyTabs({ kind: "signed-out" });
  await forget();
  void goToSignIn(next);
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

/** Listens to the other tabs and renews the session before it expires. Called once, by main.tsx. */
export function watchSession(): void {
  onTabMessage((message) => {
    const state = store.get();
    if (message.kind === "signed-out") {
      if (state.status === "signed-in") void goToSignIn(currentAddress());
    } else if (state.status === "signed-in") {
      if (message.userId !== state.user.id) window.location.reload();
      else if (state.isLost) void loadSession().catch(ignore);
    }
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && Date.now() >= renewalDueMs) void renew();
  });
}

function isSignedIn(): boolean {
  const state = store.get();
  return state.status === "signed-in" && !state.isLost;
}

/**
 * Loads the sign-in page, and with it a new document, so that nothing about the person stays in memory. Never resolves,
 * because the page is left.
 * @param next the address to open after the sign-in
 */
export function goToSignIn(next: string | undefined): Promise<never> {
  setSignInGate(undefined);
  queryClient.clear();
  const query = next === undefined ? "" : `?${new URLSearchParams({ next }).toString()}`;
  void openDocument(href(`/sign-in${query}`));
  return Promise.withResolvers<never>().promise;
}

/** One check for all requests that failed together. Another tab may have renewed the session already. */
function recover(): Promise<boolean> {
  recovery ??= waitForSession().finally(() => {
    recovery = undefined;
  });
  return recovery;
}

async function waitForSession(): Promise<boolean> {
  if ((await loadSession()) !== undefined) return true;
  const state = store.get();
  if (state.status !== "signed-in") return false;
  store.set({ ...state, isLost: true });
  await whenSignedIn();
  return true;
}

function isOtherUser(userId: string): boolean {
  const state = store.get();
  return state.status === "signed-in" && state.user.id !== userId;
}

/** The page shows data of another person, so nothing of it may stay. The page is left, so this never resolves. */
function reloadForOtherUser(): Promise<never> {
  void openDocument(href("/files"));
  return Promise.withResolvers<never>().promise;
}

/** Renews after half of the remaining time, so that a page that is looked at once a day stays signed in. */
function planRenewal(session: Session): void {
  clearTimeout(renewalTimer);
  if (session.expiresAt === null) return;
  const leftMs = Date.parse(session.expiresAt) - Date.now();
  renewalDueMs = Date.now() + leftMs / 2;
  renewalTimer = setTimeout(() => void renew(), Math.min(Math.max(leftMs / 2, 1000), LONGEST_TIMER_MS));
}

/** One tab renews for all; the others see the new expiry. A tab in the background renews when it becomes visible. */
async function renew(): Promise<void> {
  const state = store.get();
  if (state.status !== "signed-in" || state.isLost || document.hidden) return;
  const { expiresAt } = state.session;
  const renewOnce = async () => {
    const now = await loadSession();
    if (now === undefined || now.session.expiresAt !== expiresAt) return;
    await request("POST", "/api/auth/refresh");
    await loadSession();
  };
  try {
    // Web Locks exist only on HTTPS. Without them two tabs may both renew, which costs one extra request.
    if (navigator.locks === undefined) await renewOnce();
    else await navigator.locks.request(`larder-session${basePath()}`, renewOnce);
  } catch {
    renewalTimer = setTimeout(() => void renew(), 60_000); // Not reached, or rejected for now. The session is still valid.
  }
}
