import { version as packageVersion } from "../package.json" with { type: "json" };

// Put in by scripts/build.ts; absent when the program runs from source.
declare const LARDER_BUILD_COMMIT: string | undefined;
declare const LARDER_BUILD_LIBVIPS: string | undefined;

/** The version of the program, from package.json. */
export const VERSION: string = packageVersion;

/** The commit this executable was built from; "unknown" from source and from a source archive. */
export const COMMIT: string = typeof LARDER_BUILD_COMMIT === "string" ? LARDER_BUILD_COMMIT : "unknown";

/** Version of the libvips inside the executable; "unknown" from source, where the thumbnail service reports it. */
export const LIBVIPS_VERSION: string = typeof LARDER_BUILD_LIBVIPS === "string" ? LARDER_BUILD_LIBVIPS : "unknown";
