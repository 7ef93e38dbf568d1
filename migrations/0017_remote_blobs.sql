-- Contents that lie in a bucket of an S3-compatible service as well as, or instead of, on this disk (features/blob-places).
CREATE TABLE `remote_blobs` (
	`digest` blob PRIMARY KEY NOT NULL,
	`size_bytes` integer NOT NULL,
	`stored_at` integer NOT NULL,
	`verified_at` integer,
	`used_at` integer,
	`leaving_at` integer,
	CONSTRAINT "remote_blobs_digest" CHECK(length("remote_blobs"."digest") = 32)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `remote_blobs_local` ON `remote_blobs` (`used_at`,`size_bytes`) WHERE used_at IS NOT NULL;
