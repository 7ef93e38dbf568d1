-- 1: the hidden row of an app password. It is no device that a person registered: lists, limits and messages leave it
-- out, while the journal, rewinds and the guard against mass changes use it as they use devices.
ALTER TABLE `devices` ADD `is_app` integer NOT NULL DEFAULT 0;
--> statement-breakpoint
CREATE TABLE `app_passwords` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`user_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`name` text NOT NULL,
	`password_hash` blob NOT NULL,
	`can_write` integer NOT NULL,
	`folder_id` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`last_used_at` integer,
	`last_address` text,
	`last_client` text,
	`revoked_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `app_passwords_public` ON `app_passwords` (`public_id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `app_passwords_hash` ON `app_passwords` (`password_hash`);
--> statement-breakpoint
CREATE INDEX `app_passwords_user` ON `app_passwords` (`user_id`, `id`);
--> statement-breakpoint
CREATE INDEX `app_passwords_revoked` ON `app_passwords` (`revoked_at`) WHERE revoked_at IS NOT NULL;
--> statement-breakpoint
-- The earlier addresses of accounts: programs that were set up with one sign in as before, with their app password.
CREATE TABLE `former_emails` (
	`user_id` integer NOT NULL,
	`email_key` text NOT NULL,
	`changed_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `email_key`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
