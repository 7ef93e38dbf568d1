import { defaultOptions, type PreviousUpload, type UrlStorage } from "tus-js-client";

const { urlStorage: storage } = defaultOptions;

/**
 * Where the browser remembers what was begun, so that a file chosen again goes on where it was. It may be full, or refused
 * to pages: then a file is sent whole, which is better than not at all.
 */
export const remembered: UrlStorage = {
  findAllUploads: () => attempt<PreviousUpload[]>(() => storage.findAllUploads(), []),
  findUploadsByFingerprint: (fingerprint) =>
    attempt<PreviousUpload[]>(() => storage.findUploadsByFingerprint(fingerprint), []),
  addUpload: (fingerprint, upload) => attempt(() => storage.addUpload(fingerprint, upload), ""),
  removeUpload: (key) => attempt(() => storage.removeUpload(key), undefined),
};

async function attempt<T>(deed: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await deed();
  } catch {
    return otherwise;
  }
}
