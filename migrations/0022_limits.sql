-- From where a locked link was opened, when its owner was notified of guesses, and how many uploads into a drop box one address may have (features/shares).
ALTER TABLE `shares` ADD `guesses_notified_at` integer;--> statement-breakpoint
ALTER TABLE `shares` ADD `max_uploads_per_address` integer;--> statement-breakpoint
CREATE TABLE `share_openers` (
	`share_id` integer NOT NULL,
	`address_hash` blob NOT NULL,
	`opened_at` integer NOT NULL,
	PRIMARY KEY(`share_id`, `address_hash`),
	FOREIGN KEY (`share_id`) REFERENCES `shares`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `share_openers_age` ON `share_openers` (`opened_at`);
