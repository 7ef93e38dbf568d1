/** The routes of the application. Every page is a separate script. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Outlet,
  redirect,
  useRouter,
} from "@tanstack/react-router";
import { ConfirmHost } from "../ui/confirm.tsx";
import { lazyPart } from "../ui/lazy-part.ts";
import { followInReload } from "../ui/reload.ts";
import { ToastHost } from "../ui/toast.tsx";
import { TooltipHost } from "../ui/tooltip.tsx";
import { basePath } from "../base/address.ts";
import { pageKeyOf, useClosedDialogEntries } from "../base/overlays.ts";
import { startPage } from "../base/start-page.ts";
import { Frame } from "./frame.tsx";
import { PageSpinner } from "./page-boundary.tsx";
import { PageFailure } from "./page-failure.tsx";
import { formatTextSearch, parseTextSearch, textSearch } from "../base/search-params.ts";
import { goToSignIn, loadSession, sessionState } from "../api/session.ts";
import { ProofHost } from "./proof-host.tsx";
import { SignInAgain } from "./sign-in-again.tsx";

const pages = {
  home: lazyPart(() => import("../features/home/home-page.tsx").then((page) => page.HomePage)),
  files: lazyPart(() => import("../features/browse/files-page.tsx").then((page) => page.FilesPage)),
  photos: lazyPart(() => import("../features/photos/photos-page.tsx").then((page) => page.PhotosPage)),
  albums: lazyPart(() => import("../features/albums/albums-page.tsx").then((page) => page.AlbumsPage)),
  album: lazyPart(() => import("../features/albums/album-page.tsx").then((page) => page.AlbumPage)),
  favorites: lazyPart(() => import("../features/favorites/favorites-page.tsx").then((page) => page.FavoritesPage)),
  places: lazyPart(() => import("../features/places/places-page.tsx").then((page) => page.PlacesPage)),
  search: lazyPart(() => import("../features/search/search-page.tsx").then((page) => page.SearchPage)),
  sharedByMe: lazyPart(() =>
    import("../features/browse/shared/shared-by-me-page.tsx").then((page) => page.SharedByMePage),
  ),
  sharedWithMe: lazyPart(() =>
    import("../features/browse/shared/shared-with-me-page.tsx").then((page) => page.SharedWithMePage),
  ),
  trash: lazyPart(() => import("../features/trash/trash-page.tsx").then((page) => page.TrashPage)),
  history: lazyPart(() => import("../features/history/history-page.tsx").then((page) => page.HistoryPage)),
  settings: lazyPart(() => import("../features/settings/settings-page.tsx").then((page) => page.SettingsPage)),
  admin: lazyPart(() => import("../features/admin/admin-page.tsx").then((page) => page.AdminPage)),
  edit: lazyPart(() => import("../features/editor/editor-page.tsx").then((page) => page.EditorPage)),
  connect: lazyPart(() => import("../features/connect/connect-page.tsx").then((page) => page.ConnectPage)),
  signUp: lazyPart(() => import("../features/sign-up/sign-up-page.tsx").then((page) => page.SignUpPage)),
  notFound: lazyPart(() => import("./not-found.tsx").then((page) => page.NotFound)),
};

const root = createRootRoute({
  component: Root,
  notFoundComponent: pages.notFound,
  errorComponent: Failure,
  validateSearch: textSearch,
});

/**
 * Pages that require sign-in. The server sends visitors to the sign-in page, so this finds only sessions that ended while
 * the document was loaded from a cache.
 */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  beforeLoad: async ({ location }) => {
    if (sessionState().status === "signed-in" || (await loadSession()) !== undefined) return;
    await goToSignIn(location.publicHref.slice(basePath().length));
  },
});

const framed = createRoute({ getParentRoute: () => signedIn, id: "framed", component: Frame });
/** A program opens this page, so it shows one question and no navigation. */
const connect = createRoute({ getParentRoute: () => signedIn, path: "/connect/$token", component: pages.connect });
/** The editor fills the window, as the keyboard of a phone leaves little of it. */
const edit = createRoute({ getParentRoute: () => signedIn, path: "/edit/$fileId", component: pages.edit });

const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: `/${startPage()}`, replace: true });
  },
});

const home = createRoute({ getParentRoute: () => framed, path: "/home", component: pages.home });

const filesLayout = createRoute({ getParentRoute: () => framed, path: "/files", component: pages.files });
const filesRoot = createRoute({ getParentRoute: () => filesLayout, path: "/" });
const filesBelow = createRoute({ getParentRoute: () => filesLayout, path: "$" });

const photos = createRoute({ getParentRoute: () => framed, path: "/photos", component: pages.photos });
const albums = createRoute({ getParentRoute: () => framed, path: "/albums", component: pages.albums });
const album = createRoute({ getParentRoute: () => framed, path: "/albums/$albumId", component: pages.album });
const favorites = createRoute({ getParentRoute: () => framed, path: "/favorites", component: pages.favorites });
const places = createRoute({ getParentRoute: () => framed, path: "/photos/places", component: pages.places });
const search = createRoute({ getParentRoute: () => framed, path: "/search", component: pages.search });
const byMe = createRoute({ getParentRoute: () => framed, path: "/shared/by-me", component: pages.sharedByMe });
const withMe = createRoute({ getParentRoute: () => framed, path: "/shared/with-me", component: pages.sharedWithMe });
const trash = createRoute({ getParentRoute: () => framed, path: "/trash", component: pages.trash });
const history = createRoute({ getParentRoute: () => framed, path: "/history", component: pages.history });

const settingsStart = createRoute({
  getParentRoute: () => framed,
  path: "/settings",
  beforeLoad: () => {
    throw redirect({ to: "/settings/$section", params: { section: "profile" }, replace: true });
  },
});
const settings = createRoute({ getParentRoute: () => framed, path: "/settings/$section", component: pages.settings });

const adminStart = createRoute({
  getParentRoute: () => framed,
  path: "/admin",
  beforeLoad: () => {
    throw redirect({ to: "/admin/$section", params: { section: "health" }, replace: true });
  },
});
const admin = createRoute({ getParentRoute: () => framed, path: "/admin/$section", component: pages.admin });

const signUp = createRoute({ getParentRoute: () => root, path: "/sign-up", component: pages.signUp });

const routeTree = root.addChildren([
  start,
  signUp,
  signedIn.addChildren([
    connect,
    edit,
    framed.addChildren([
      home,
      filesLayout.addChildren([filesRoot, filesBelow]),
      photos,
      albums,
      album,
      favorites,
      places,
      search,
      byMe,
      withMe,
      trash,
      history,
      settingsStart,
      settings,
      adminStart,
      admin,
    ]),
  ]),
]);

/** Creates the router. All routes are below the base path. */
export function makeRouter() {
  const router = createRouter({
    routeTree,
    basepath: basePath() || "/",
    parseSearch: (query) => parseTextSearch(query),
    stringifySearch: formatTextSearch,
    defaultPreload: "intent",
    defaultPendingComponent: PageSpinner,
    scrollRestoration: hasScrollToRestore,
    scrollToTopSelectors: ["#main"],
    getScrollRestorationKey: pageKeyOf,
    trailingSlash: "never",
  });
  // The router announces a navigation shortly before it updates the browser's address.
  router.subscribe("onBeforeNavigate", () => followInReload(() => router.history.flush()));
  return router;
}

let isFirstDrawing = true;

/** A page that was just opened is already at its top. Scrolling it would force a layout before the first paint. */
function hasScrollToRestore({ location }: { readonly location: { readonly hash: string } }): boolean {
  const isNewPage = isFirstDrawing && location.hash === "" && !isBackNavigation();
  isFirstDrawing = false;
  return !isNewPage;
}

function isBackNavigation(): boolean {
  const [navigation] = performance.getEntriesByType("navigation");
  return navigation instanceof PerformanceNavigationTiming && navigation.type !== "navigate";
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}

function Root() {
  useClosedDialogEntries();
  return (
    <>
      <Outlet />
      <ProofHost />
      <SignInAgain />
      <ConfirmHost />
      <ToastHost />
      <TooltipHost />
    </>
  );
}

/** Shown if the session, or the script of a page without the frame, could not be loaded. */
function Failure({ error }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <main className="flex min-h-dvh items-center justify-center bg-surface">
      <PageFailure error={error} isWholePage onRetry={() => void router.invalidate()} />
    </main>
  );
}
