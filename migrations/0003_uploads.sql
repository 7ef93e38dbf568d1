CREATE TABLE `upload_sessions` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`options` text DEFAULT '{}' NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `upload_sessions_public` ON `upload_sessions` (`public_id`);--> statement-breakpoint
CREATE INDEX `upload_sessions_expiry` ON `upload_sessions` (`expires_at`);--> statement-breakpoint
CREATE INDEX `upload_sessions_account` ON `upload_sessions` (`account_id`);--> statement-breakpoint
CREATE TABLE `uploads` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`session_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`local_id` text NOT NULL,
	`name` text NOT NULL,
	`folder_path` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`media_type` text,
	`digest` blob,
	`chunk_size_bytes` integer NOT NULL,
	`total_chunks` integer NOT NULL,
	`status` text NOT NULL,
	`reserved_bytes` integer NOT NULL,
	`on_conflict` text NOT NULL,
	`target_id` text,
	`base_digest` blob,
	`nonce` blob NOT NULL,
	`is_automatic` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	`failed_at` integer,
	`file_id` text,
	FOREIGN KEY (`session_id`) REFERENCES `upload_sessions`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "uploads_bytes" CHECK(size_bytes >= 0 AND reserved_bytes >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `uploads_public` ON `uploads` (`public_id`);--> statement-breakpoint
CREATE INDEX `uploads_session` ON `uploads` (`session_id`);--> statement-breakpoint
CREATE INDEX `uploads_account` ON `uploads` (`account_id`);--> statement-breakpoint
CREATE INDEX `uploads_open` ON `uploads` (`device_id`,`local_id`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE INDEX `uploads_reserved` ON `uploads` (`account_id`,`reserved_bytes`) WHERE reserved_bytes > 0;--> statement-breakpoint
CREATE TABLE `upload_chunks` (
	`upload_id` integer NOT NULL,
	`idx` integer NOT NULL,
	`is_replacing` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`upload_id`, `idx`),
	FOREIGN KEY (`upload_id`) REFERENCES `uploads`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
