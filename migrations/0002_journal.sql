ALTER TABLE `accounts` ADD `reserved_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `changed_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `journal` ADD `at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `journal` ADD `device_id` integer;--> statement-breakpoint
ALTER TABLE `nodes` ADD `content_device_id` integer;--> statement-breakpoint
ALTER TABLE `blobs` ADD `verified_at` integer;--> statement-breakpoint
ALTER TABLE `shares` ADD `downloaded_at` integer;
