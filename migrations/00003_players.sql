-- Players' tokens: their issuers, the keys of this service's own tokens, and members whose tokens ended early. Servers keep all
-- three in memory, by the row "tokens" of table_versions.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS issuers (
    name       VARBINARY(64) NOT NULL,
    rules      MEDIUMTEXT    NOT NULL COMMENT 'leaderboard.IssuerRules, JSON',
    created_at DATETIME(6)   NOT NULL,
    updated_at DATETIME(6)   NOT NULL,
    PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS signing_keys (
    id         VARBINARY(16) NOT NULL COMMENT 'kid of the tokens that it signs',
    seed       VARBINARY(32) NOT NULL COMMENT 'of Ed25519: a secret, with which tokens for any member are made',
    created_at DATETIME(6)   NOT NULL,
    ends_at    DATETIME(6)   NULL COMMENT 'until when its tokens are taken; NULL: it signs',
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS member_bars (
    member     VARBINARY(64) NOT NULL,
    not_before DATETIME(6)   NOT NULL COMMENT 'tokens that were issued before are refused',
    PRIMARY KEY (member),
    KEY member_bars_age (not_before)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS member_bars;
DROP TABLE IF EXISTS signing_keys;
DROP TABLE IF EXISTS issuers;
