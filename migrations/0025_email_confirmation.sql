-- Forms of the addresses by which look-alikes are found; filled by the program, which has the tables of Unicode.
ALTER TABLE `users` ADD COLUMN `email_folded` text;--> statement-breakpoint
ALTER TABLE `users` ADD COLUMN `email_skeleton` text;--> statement-breakpoint
ALTER TABLE `users` ADD COLUMN `email_forms` text;--> statement-breakpoint
-- Null: confirmed, as all accounts are that exist already.
ALTER TABLE `users` ADD COLUMN `email_unconfirmed_since` integer;--> statement-breakpoint
CREATE INDEX `users_email_folded` ON `users` (`email_folded`) WHERE email_folded IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_email_skeleton` ON `users` (`email_skeleton`) WHERE email_skeleton IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_email_forms` ON `users` (`email_forms`);--> statement-breakpoint
CREATE INDEX `users_admins` ON `users` (`id`) WHERE role = 'admin';--> statement-breakpoint
CREATE TABLE `email_confirmations` (
	`token_hash` blob PRIMARY KEY NOT NULL,
	`user_id` integer NOT NULL,
	`email_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `email_confirmations_user` ON `email_confirmations` (`user_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `email_confirmations_email` ON `email_confirmations` (`email_key`,`created_at`);--> statement-breakpoint
CREATE INDEX `email_confirmations_age` ON `email_confirmations` (`created_at`);
