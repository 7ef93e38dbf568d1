import type { OcsData } from "./ocs-response.ts";

/**
 * The version that clients compare. They check which features a server has by it, warn about versions without support,
 * and reject very old ones. It is a version whose protocol this server speaks, not that of this program.
 */
const PROTOCOL_VERSION = { major: 28, minor: 0, micro: 14 };
const VERSION_TEXT = `${PROTOCOL_VERSION.major}.${PROTOCOL_VERSION.minor}.${PROTOCOL_VERSION.micro}`;

const PRODUCT_NAME = "Larder";
/** How often clients ask for changes, in milliseconds. */
const POLL_INTERVAL_MS = 30_000;

/** The response at `/status.php`, which clients ask for before they sign in. */
export const SERVER_STATUS = {
  installed: true,
  maintenance: false,
  needsDbUpgrade: false,
  version: `${VERSION_TEXT}.1`,
  versionstring: VERSION_TEXT,
  edition: "",
  productname: PRODUCT_NAME,
  extendedSupport: false,
};

/**
 * What clients may use of this server. They treat what is absent as missing, so only what is served is announced.
 * @param baseUrl address of this server
 */
export function capabilitiesData(baseUrl: string): OcsData {
  return {
    version: {
      major: PROTOCOL_VERSION.major,
      minor: PROTOCOL_VERSION.minor,
      micro: PROTOCOL_VERSION.micro,
      string: VERSION_TEXT,
      edition: "",
      extendedSupport: false,
    },
    capabilities: {
      core: {
        pollinterval: POLL_INTERVAL_MS,
        "webdav-root": "remote.php/webdav",
        status: SERVER_STATUS,
      },
      dav: { chunking: "1.0" },
      files: { bigfilechunking: true, undelete: false, versioning: false },
      checksums: { supportedTypes: ["SHA256", "SHA1", "MD5", "ADLER32"], preferredUploadType: "SHA256" },
      files_sharing: { api_enabled: false },
      // The name that the clients show for this account.
      theming: { name: PRODUCT_NAME, url: baseUrl, slogan: "" },
    },
  };
}
