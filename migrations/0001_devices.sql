CREATE TABLE `devices` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`public_id` text NOT NULL,
	`name` text NOT NULL,
	`platform` text NOT NULL,
	`model` text,
	`os_version` text,
	`app_version` text,
	`registered_at` integer NOT NULL,
	`last_active_at` integer NOT NULL,
	`removed_at` integer,
	`settings` text DEFAULT '{}' NOT NULL,
	`last_sync_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `devices_public` ON `devices` (`user_id`,`public_id`);--> statement-breakpoint
CREATE TABLE `refresh_tokens` (
	`id` integer PRIMARY KEY NOT NULL,
	`device_id` integer NOT NULL,
	`token_hash` blob NOT NULL,
	`session_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	`successor_id` integer,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `refresh_tokens_token` ON `refresh_tokens` (`token_hash`);--> statement-breakpoint
CREATE INDEX `refresh_tokens_device` ON `refresh_tokens` (`device_id`);--> statement-breakpoint
CREATE INDEX `refresh_tokens_expiry` ON `refresh_tokens` (`expires_at`);--> statement-breakpoint
CREATE INDEX `refresh_tokens_successor` ON `refresh_tokens` (`successor_id`) WHERE successor_id IS NOT NULL;--> statement-breakpoint
ALTER TABLE `sessions` ADD `device_id` integer REFERENCES devices(id) ON DELETE cascade;--> statement-breakpoint
CREATE INDEX `sessions_device` ON `sessions` (`device_id`) WHERE device_id IS NOT NULL;
