CREATE TABLE `mails` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer,
	`kind` text NOT NULL,
	`recipient` text NOT NULL,
	`recipient_key` text NOT NULL,
	`message_id` text NOT NULL,
	`subject` text NOT NULL,
	`text` text NOT NULL,
	`html` text NOT NULL,
	`state` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`finished_at` integer,
	`last_error` text,
	CONSTRAINT "mails_state" CHECK("state" IN ('waiting','sent','refused','expired')),
	CONSTRAINT "mails_finished" CHECK(("finished_at" IS NULL) = ("state" = 'waiting'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `mails_waiting` ON `mails` (`recipient_key`,`id`) WHERE finished_at IS NULL;--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`due_at`) WHERE finished_at IS NULL;--> statement-breakpoint
CREATE INDEX `mails_expiry` ON `mails` (`expires_at`) WHERE finished_at IS NULL;--> statement-breakpoint
CREATE INDEX `mails_recipient` ON `mails` (`recipient_key`,`created_at`);--> statement-breakpoint
CREATE INDEX `mails_account` ON `mails` (`account_id`,`created_at`) WHERE account_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_done` ON `mails` (`finished_at`) WHERE finished_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `password_resets` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`token_hash` blob NOT NULL,
	`basis` blob NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `password_resets_token` ON `password_resets` (`token_hash`);--> statement-breakpoint
CREATE TABLE `reset_requests` (
	`email_key` text PRIMARY KEY NOT NULL,
	`asked_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `reset_requests_age` ON `reset_requests` (`asked_at`);--> statement-breakpoint
CREATE TABLE `oidc_identities` (
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`user_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`issuer`, `subject`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `oidc_identities_user` ON `oidc_identities` (`user_id`);
