ALTER TABLE `shares` ADD `account_id` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shares` ADD `label` text;--> statement-breakpoint
ALTER TABLE `shares` ADD `expires_at` integer;--> statement-breakpoint
ALTER TABLE `shares` ADD `password_hash` text;--> statement-breakpoint
ALTER TABLE `shares` ADD `grant_epoch` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shares` ADD `max_downloads` integer;--> statement-breakpoint
ALTER TABLE `shares` ADD `downloads` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shares` ADD `views` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shares` ADD `last_accessed_at` integer;--> statement-breakpoint
ALTER TABLE `shares` ADD `pinned_version` integer;--> statement-breakpoint
ALTER TABLE `shares` ADD `hides_location` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shares` ADD `max_upload_bytes` integer;--> statement-breakpoint
ALTER TABLE `shares` ADD `uploads` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shares` ADD `uploaded_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shares` ADD `can_write` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shares` ADD `recipient_email_key` text;--> statement-breakpoint
ALTER TABLE `shares` ADD `recipient_id` integer REFERENCES users(id) ON DELETE cascade;--> statement-breakpoint
UPDATE `shares` SET account_id = (SELECT account_id FROM nodes WHERE nodes.id = shares.node_id);--> statement-breakpoint
CREATE INDEX `shares_account` ON `shares` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `shares_recipient` ON `shares` (`recipient_id`) WHERE recipient_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `shares_waiting` ON `shares` (`recipient_email_key`) WHERE recipient_email_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `shares_expiry` ON `shares` (`expires_at`) WHERE expires_at IS NOT NULL;
