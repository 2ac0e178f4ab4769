-- +goose Up
CREATE TABLE idempotency_keys (
    board_id        BIGINT         NOT NULL,
    idempotency_key VARBINARY(128) NOT NULL,
    request_hash    BINARY(32)     NOT NULL COMMENT 'SHA-256 of the decoded request',
    created_time    DATETIME(6)    NOT NULL,
    receipt         MEDIUMBLOB     NOT NULL COMMENT 'versioned: the answer that was given',
    PRIMARY KEY (board_id, idempotency_key),
    KEY idempotency_keys_age (created_time)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE idempotency_keys;
