-- +goose Up
CREATE TABLE periods (
    id                BIGINT        NOT NULL AUTO_INCREMENT,
    board_id          BIGINT        NOT NULL,
    window_name       VARBINARY(16) NOT NULL COMMENT 'all_time, hour, day, …',
    starts_at         DATETIME(6)   NOT NULL,
    ends_at           DATETIME(6)   NULL COMMENT 'exclusive; NULL: no end',
    state             VARBINARY(16) NOT NULL DEFAULT 'open' COMMENT 'open, closed, deleting',
    last_seq          BIGINT        NOT NULL DEFAULT 0 COMMENT 'changes committed so far',
    last_created_time DATETIME(6)   NOT NULL COMMENT 'greatest created_time assigned so far',
    committed_at      DATETIME(6)   NOT NULL COMMENT 'database clock at the commit that led to last_seq',
    entry_count       BIGINT        NOT NULL DEFAULT 0 COMMENT 'entries at last_seq',
    PRIMARY KEY (id),
    UNIQUE KEY periods_start (board_id, window_name, starts_at),
    KEY periods_board (board_id, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE periods;
