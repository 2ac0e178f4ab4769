-- The service follows no program by name: a cursor is enough.

-- +goose NO TRANSACTION
-- +goose Up
DROP TABLE IF EXISTS followers;

-- +goose Down
CREATE TABLE IF NOT EXISTS followers (
    board_id    BIGINT         NOT NULL,
    name        VARBINARY(64)  NOT NULL,
    window_name VARBINARY(16)  NOT NULL,
    starts_at   DATETIME(6)    NOT NULL COMMENT 'of the period that it is in, which may not have begun',
    seq         BIGINT         NOT NULL COMMENT 'up to here it has the changes of that period; of those after it, it has none',
    next_cursor VARBINARY(256) NOT NULL COMMENT 'where it goes on, as it said',
    created_at  DATETIME(6)    NOT NULL,
    seen_at     DATETIME(6)    NOT NULL COMMENT 'when it last told where it is, by the database clock',
    PRIMARY KEY (board_id, name),
    KEY followers_age (seen_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
