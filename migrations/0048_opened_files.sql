-- Files that an account opened last, for its list of recent files: at most 100 of each account. A row goes with the file
-- and with the account. It is written up to a second late, and is not part of the store journal.
CREATE TABLE `opened_files` (
	`account_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`opened_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `node_id`),
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `opened_files_node` ON `opened_files` (`node_id`);
