-- Uploads by the tus protocol: what one has beside its row of `uploads` (features/tus).
CREATE TABLE `tus_uploads` (
	`upload_id` integer PRIMARY KEY NOT NULL,
	`sender_id` integer,
	`share_id` text,
	`kind` text NOT NULL,
	`parts` text,
	`offset_bytes` integer DEFAULT 0 NOT NULL,
	`is_length_known` integer NOT NULL,
	`metadata` text NOT NULL,
	FOREIGN KEY (`upload_id`) REFERENCES `uploads`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`sender_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "tus_uploads_offset" CHECK(offset_bytes >= 0),
	CONSTRAINT "tus_uploads_sender" CHECK((sender_id IS NULL) <> (share_id IS NULL))
) STRICT;
--> statement-breakpoint
CREATE INDEX `tus_uploads_sender` ON `tus_uploads` (`sender_id`) WHERE sender_id IS NOT NULL;
