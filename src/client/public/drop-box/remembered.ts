import { defaultOptions, type PreviousUpload, type UrlStorage } from "tus-js-client";

const { urlStorage: storage } = defaultOptions;

/**
 * Where the browser stores unfinished uploads, so that choosing a file again resumes it. Storage may be full or
 * forbidden: then the file is sent from the start.
 */
export const remembered: UrlStorage = {
  findAllUploads: () => attempt<PreviousUpload[]>(() => storage.findAllUploads(), []),
  findUploadsByFingerprint: (fingerprint) =>
    attempt<PreviousUpload[]>(() => storage.findUploadsByFingerprint(fingerprint), []),
  addUpload: (fingerprint, upload) => attempt(() => storage.addUpload(fingerprint, upload), ""),
  removeUpload: (key) => attempt(() => storage.removeUpload(key), undefined),
};

async function attempt<T>(access: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await access();
  } catch {
    return otherwise;
  }
}
