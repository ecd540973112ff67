CREATE TABLE IF NOT EXISTS member (
    id     INTEGER PRIMARY KEY,
    email  TEXT NOT NULL,
    name   TEXT NOT NULL,
    joined TEXT NOT NULL
);

CREATE INDEX IF NOT EXISTS member_email ON member (email);

CREATE INDEX IF NOT EXISTS member_joined ON member (joined);
