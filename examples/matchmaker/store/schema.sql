CREATE TABLE matchmaker_schema (version int4 NOT NULL);
INSERT INTO matchmaker_schema VALUES (1);
CREATE TABLE users (
	uid        int8 PRIMARY KEY,
	name       text NOT NULL,
	age        int4 NOT NULL,
	region     text NOT NULL,
	interests  int8 NOT NULL,
	min_age    int4 NOT NULL,
	max_age    int4 NOT NULL,
	popularity int4 NOT NULL,
	version    int8 NOT NULL
);
CREATE INDEX users_by_popularity ON users (region, popularity DESC, uid);
CREATE TABLE messages (
	id        int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	sender    int8 NOT NULL REFERENCES users,
	recipient int8 NOT NULL REFERENCES users,
	seq       int8 NOT NULL,
	nonce     int8 NOT NULL,
	body      text NOT NULL
);
CREATE UNIQUE INDEX messages_once ON messages (sender, nonce) WHERE nonce <> 0;
CREATE INDEX messages_between ON messages (sender, recipient, id);
CREATE TABLE photos (
	uid  int8 PRIMARY KEY REFERENCES users,
	jpeg bytea NOT NULL
);
