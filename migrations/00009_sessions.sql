-- People who signed in: a session is a row of api_keys, whose secret is in a cookie, and a row here, which says whose it is.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS sessions (
    key_id     VARBINARY(16)  NOT NULL COMMENT 'of api_keys',
    person     VARBINARY(100) NOT NULL COMMENT 'as the identity provider calls the person: the verified email address, or the subject',
    role       VARBINARY(255) NOT NULL COMMENT 'what the provider said of the person that the scope is for',
    expires_at DATETIME(6)    NOT NULL COMMENT 'as that of the key, which does not change',
    PRIMARY KEY (key_id),
    KEY sessions_age (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS sessions;
