CREATE TABLE `queue_operations` (
	`id` integer PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`operation_id` text NOT NULL,
	`type` text NOT NULL,
	`priority` integer NOT NULL,
	`created_at` integer NOT NULL,
	`received_at` integer NOT NULL,
	`remote_path` text,
	`file_id` text,
	`status` integer NOT NULL,
	`attempts` integer NOT NULL,
	`error` text,
	`hold_id` text,
	`finished_at` integer,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "queue_operations_type" CHECK(`type` IN ('upload', 'delete')),
	CONSTRAINT "queue_operations_status" CHECK(`status` IN (0, 1, 2))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `queue_operations_named` ON `queue_operations` (`device_id`,`operation_id`);--> statement-breakpoint
CREATE INDEX `queue_operations_listed` ON `queue_operations` (`device_id`,`status`,`priority`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `queue_operations_runnable` ON `queue_operations` (`device_id`,`priority`,`created_at`,`id`) WHERE status = 0 AND type = 'delete' AND hold_id IS NULL;--> statement-breakpoint
CREATE INDEX `queue_operations_held` ON `queue_operations` (`hold_id`) WHERE hold_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `queue_operations_waiting` ON `queue_operations` (`account_id`,`remote_path`) WHERE status = 0 AND type = 'upload';--> statement-breakpoint
CREATE INDEX `queue_operations_age` ON `queue_operations` (`received_at`) WHERE status = 0;--> statement-breakpoint
CREATE INDEX `queue_operations_finished` ON `queue_operations` (`finished_at`) WHERE finished_at IS NOT NULL;
