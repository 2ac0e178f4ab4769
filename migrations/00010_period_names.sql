-- +goose Up
ALTER TABLE periods
    ADD COLUMN name VARBINARY(64) NOT NULL DEFAULT '' COMMENT 'as in 2026-11-20; empty: that of the window' AFTER window_name,
    ADD KEY periods_name (board_id, window_name, name);

-- +goose Down
ALTER TABLE periods
    DROP KEY periods_name,
    DROP COLUMN name;
