-- What the server held and did, one row a day (features/admin/daily-samples.ts). The sums are those at the last sample of the day.
CREATE TABLE `daily_samples` (
	`day` integer PRIMARY KEY NOT NULL,
	`sampled_at` integer NOT NULL,
	`users` integer NOT NULL,
	`active_users` integer NOT NULL,
	`files` integer NOT NULL,
	`folders` integer NOT NULL,
	`used_bytes` integer NOT NULL,
	`versions_bytes` integer NOT NULL,
	`trash_bytes` integer NOT NULL,
	`contents` integer NOT NULL,
	`stored_bytes` integer NOT NULL,
	`disk_free_bytes` integer NOT NULL,
	`disk_total_bytes` integer NOT NULL,
	`uploads` integer NOT NULL,
	`uploaded_bytes` integer NOT NULL,
	`downloads` integer NOT NULL,
	`downloaded_bytes` integer NOT NULL
) STRICT;
