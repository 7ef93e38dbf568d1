-- Made by the migration generator, then by hand: STRICT and WITHOUT ROWID, which it doesn't know, and the table of
-- names for searching (rowid = nodes.id, t = nodes.sort_key).
CREATE TABLE `accounts` (
	`id` integer PRIMARY KEY NOT NULL,
	`root_id` integer NOT NULL,
	`seq` integer DEFAULT 0 NOT NULL,
	`floor_seq` integer DEFAULT 0 NOT NULL,
	`files` integer DEFAULT 0 NOT NULL,
	`folders` integer DEFAULT 0 NOT NULL,
	`file_bytes` integer DEFAULT 0 NOT NULL,
	`version_bytes` integer DEFAULT 0 NOT NULL,
	`trash_bytes` integer DEFAULT 0 NOT NULL,
	`quota_bytes` integer,
	FOREIGN KEY (`id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "accounts_counts" CHECK("accounts"."files" >= 0 AND "accounts"."folders" >= 0 AND "accounts"."file_bytes" >= 0 AND "accounts"."version_bytes" >= 0 AND "accounts"."trash_bytes" >= 0)
) STRICT;
--> statement-breakpoint
CREATE TABLE `transfers` (
	`account_id` integer NOT NULL,
	`period` text NOT NULL,
	`uploads` integer DEFAULT 0 NOT NULL,
	`uploaded_bytes` integer DEFAULT 0 NOT NULL,
	`downloads` integer DEFAULT 0 NOT NULL,
	`downloaded_bytes` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account_id`, `period`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_types` (
	`account_id` integer NOT NULL,
	`type` text NOT NULL,
	`files` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`account_id`, `type`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `blobs` (
	`id` integer PRIMARY KEY NOT NULL,
	`digest` blob NOT NULL,
	`size_bytes` integer NOT NULL,
	`crc32` integer NOT NULL,
	`refs` integer NOT NULL,
	`created_at` integer NOT NULL,
	`touched_at` integer NOT NULL,
	`damaged_at` integer,
	CONSTRAINT "blobs_refs" CHECK("blobs"."refs" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `blobs_digest` ON `blobs` (`digest`);--> statement-breakpoint
CREATE INDEX `blobs_unreferenced` ON `blobs` (`touched_at`) WHERE refs = 0;--> statement-breakpoint
CREATE TABLE `quarantine` (
	`digest` blob PRIMARY KEY NOT NULL,
	`size_bytes` integer NOT NULL,
	`since` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `thumbnail_failures` (
	`digest` blob PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`program` text NOT NULL,
	`failed_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`account_id` integer NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`result` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `key`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `idempotency_keys_age` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`name` text PRIMARY KEY NOT NULL,
	`last_started_at` integer,
	`last_finished_at` integer,
	`last_result` text,
	`last_error` text,
	`cursor` text,
	`requested_at` integer,
	`request_arguments` text
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `meta` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `rate_hits` (
	`subject` text NOT NULL,
	`category` text NOT NULL,
	`at` integer NOT NULL,
	`hits` integer NOT NULL,
	`rejected` integer NOT NULL,
	PRIMARY KEY(`subject`, `category`, `at`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `rate_hits_at` ON `rate_hits` (`at`);--> statement-breakpoint
CREATE TABLE `folders` (
	`node_id` integer PRIMARY KEY NOT NULL,
	`child_folders` integer DEFAULT 0 NOT NULL,
	`child_files` integer DEFAULT 0 NOT NULL,
	`children_rev` integer DEFAULT 0 NOT NULL,
	`path_seq` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `journal` (
	`account_id` integer NOT NULL,
	`seq` integer NOT NULL,
	`node_id` integer NOT NULL,
	PRIMARY KEY(`account_id`, `seq`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `node_access` (
	`node_id` integer PRIMARY KEY NOT NULL,
	`downloads` integer NOT NULL,
	`last_accessed_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `node_tags` (
	`tag_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	PRIMARY KEY(`tag_id`, `node_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `nodes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`parent_id` integer,
	`kind` integer NOT NULL,
	`name` text NOT NULL,
	`sort_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`modified_at` integer NOT NULL,
	`seq` integer NOT NULL,
	`created_seq` integer NOT NULL,
	`size_bytes` integer NOT NULL,
	`media_type` text,
	`blob_id` integer,
	`version` integer,
	`content_at` integer,
	`content_by` integer,
	`original_name` text,
	`file_modified_at` text,
	`captured_at` text,
	`is_public` integer DEFAULT 0 NOT NULL,
	`tags` text,
	`metadata` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`blob_id`) REFERENCES `blobs`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "nodes_kind" CHECK("nodes"."kind" IN (0, 1))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `nodes_public` ON `nodes` (`public_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `nodes_name` ON `nodes` (`parent_id`,`kind`,`sort_key`,`name`);--> statement-breakpoint
CREATE INDEX `nodes_size` ON `nodes` (`parent_id`,`kind`,`size_bytes`);--> statement-breakpoint
CREATE INDEX `nodes_created` ON `nodes` (`parent_id`,`kind`,`created_at`);--> statement-breakpoint
CREATE INDEX `nodes_modified` ON `nodes` (`parent_id`,`kind`,`modified_at`);--> statement-breakpoint
CREATE INDEX `nodes_blob` ON `nodes` (`blob_id`) WHERE blob_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `tags` (
	`id` integer PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`key` text NOT NULL,
	`name` text NOT NULL,
	`count` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `tags_key` ON `tags` (`account_id`,`key`);--> statement-breakpoint
CREATE TABLE `tombstones` (
	`account_id` integer NOT NULL,
	`seq` integer NOT NULL,
	`node_id` integer NOT NULL,
	`public_id` text NOT NULL,
	`kind` integer NOT NULL,
	`created_seq` integer NOT NULL,
	`deleted_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `seq`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `versions` (
	`node_id` integer NOT NULL,
	`version` integer NOT NULL,
	`blob_id` integer NOT NULL,
	`size_bytes` integer NOT NULL,
	`media_type` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` integer,
	PRIMARY KEY(`node_id`, `version`),
	FOREIGN KEY (`blob_id`) REFERENCES `blobs`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `versions_blob` ON `versions` (`blob_id`);--> statement-breakpoint
CREATE INDEX `versions_age` ON `versions` (`created_at`);--> statement-breakpoint
CREATE TABLE `shares` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`node_id` integer NOT NULL,
	`kind` text NOT NULL,
	`nonce` blob NOT NULL,
	`token_hash` blob NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `shares_public` ON `shares` (`public_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `shares_token` ON `shares` (`token_hash`);--> statement-breakpoint
CREATE INDEX `shares_node` ON `shares` (`node_id`);--> statement-breakpoint
CREATE TABLE `invites` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`token_hash` blob NOT NULL,
	`kind` text NOT NULL,
	`email_key` text,
	`role` text NOT NULL,
	`plan` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `invites_public` ON `invites` (`public_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `invites_token` ON `invites` (`token_hash`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`user_id` integer NOT NULL,
	`kind` text NOT NULL,
	`user_agent` text,
	`client_address` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_public` ON `sessions` (`public_id`);--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`plan` text NOT NULL,
	`password_hash` text NOT NULL,
	`disabled_at` integer,
	`created_at` integer NOT NULL,
	`settings` text DEFAULT '{}' NOT NULL,
	CONSTRAINT "users_role" CHECK("users"."role" IN ('admin','user','viewer')),
	CONSTRAINT "users_plan" CHECK("users"."plan" IN ('free','pro','enterprise'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `users_public` ON `users` (`public_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_email` ON `users` (`email_key`);
--> statement-breakpoint
CREATE VIRTUAL TABLE node_names USING fts5(t, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1');
