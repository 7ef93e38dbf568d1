// What is used of s3rver, which comes without types.
declare module "s3rver" {
  export default class S3rver {
    constructor(options: {
      address: string;
      port: number;
      silent: boolean;
      directory: string;
      configureBuckets: { name: string; configs: string[] }[];
    });
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  }
}

declare module "s3rver/lib/stores/filesystem.js" {
  import type { Readable } from "node:stream";

  interface Stored {
    size: number;
    md5: string;
  }
  interface Listing {
    objects: { key: string }[];
    isTruncated: boolean;
  }
  export default class FilesystemStore {
    listObjects: (this: FilesystemStore, bucket: string, options: { maxKeys?: number }) => Promise<Listing>;
    getResourcePath(bucket: string, key: string | undefined, resource: string): string;
    putMetadata: (this: FilesystemStore, bucket: string, key: string, metadata: object, md5?: string) => Promise<void>;
    deleteObject(bucket: string, key: string): Promise<void>;
    putObject(object: { bucket: string; key: string; metadata: object; content: Readable | Buffer }): Promise<Stored>;
    putPart(bucket: string, uploadId: string, partNumber: number, content: Readable): Promise<Stored>;
  }
}
