-- +goose Up
CREATE TABLE changes (
    period_id      BIGINT      NOT NULL,
    last_seq       BIGINT      NOT NULL,
    first_seq      BIGINT      NOT NULL,
    prev_committed DATETIME(6) NOT NULL COMMENT 'periods.committed_at before this commit',
    committed_at   DATETIME(6) NOT NULL COMMENT 'database clock',
    entry_count    BIGINT      NOT NULL COMMENT 'entries of the period at last_seq',
    payload        MEDIUMBLOB  NOT NULL COMMENT 'versioned: member, old key, new key per change',
    PRIMARY KEY (period_id, last_seq)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE changes;
