-- The session that a sign-in began with: a refresh passes it on, so that what was begun by an earlier token of the same
-- sign-in still counts. Null: the session itself.
ALTER TABLE `sessions` ADD `origin_id` text;
