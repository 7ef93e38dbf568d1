-- Files and folders that an account marked as favorites, its own and those shared with it. The mark belongs to the account
-- that set it. It goes with the file or folder, and with the account.
CREATE TABLE `favorites` (
	`account_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	PRIMARY KEY(`account_id`, `node_id`),
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `favorites_node` ON `favorites` (`node_id`);
--> statement-breakpoint
-- The record of a file or folder in the store journal names the accounts that marked it.
CREATE TRIGGER `store_journal_favorite_added` AFTER INSERT ON `favorites`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = NEW.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_favorite_removed` AFTER DELETE ON `favorites`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = OLD.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
