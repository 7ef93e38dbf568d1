-- What was done to one file, folder, share or account (features/activity).
CREATE INDEX `audit_target` ON `audit` (`target_id`,`id`) WHERE target_id IS NOT NULL;
