-- +goose Up
CREATE TABLE forgettings (
    member       VARBINARY(64) NOT NULL,
    after_period BIGINT        NOT NULL DEFAULT 0 COMMENT 'periods up to this one are done',
    entries      BIGINT        NOT NULL DEFAULT 0 COMMENT 'removed so far',
    actor        VARCHAR(128)  NOT NULL DEFAULT '',
    started_at   DATETIME(6)   NOT NULL,
    PRIMARY KEY (member),
    KEY forgettings_age (started_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE forgettings;
