package store

// The statements of the service. A stand-in answers exactly these.
const (
	SelectUser = `SELECT uid, name, age, region, interests, min_age, max_age, popularity, version FROM users WHERE uid = $1`
	UpdateUser = `UPDATE users SET name = $2, age = $3, interests = $4, min_age = $5, max_age = $6, version = version + 1
WHERE uid = $1 RETURNING uid, name, age, region, interests, min_age, max_age, popularity, version`
	SelectCandidates = `SELECT uid, name, age, interests FROM users
WHERE region = $1 AND age BETWEEN $2 AND $3 AND uid > $4 ORDER BY uid LIMIT $5`
	SelectPopular = `SELECT uid FROM users WHERE region = $1 ORDER BY popularity DESC, uid LIMIT $2`
	InsertMessage = `INSERT INTO messages (sender, recipient, seq, nonce, body) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (sender, nonce) WHERE nonce <> 0 DO UPDATE SET nonce = messages.nonce RETURNING id`
	SelectMessages = `SELECT id, sender, recipient, seq, nonce, body FROM messages
WHERE sender = $1 AND recipient = $2 OR sender = $2 AND recipient = $1 ORDER BY id DESC LIMIT $3`
	UpsertPhoto = `INSERT INTO photos (uid, jpeg) VALUES ($1, $2) ON CONFLICT (uid) DO UPDATE SET jpeg = excluded.jpeg`
	SelectPhoto = `SELECT jpeg FROM photos WHERE uid = $1`

	// SelectVersion is asked at the start.
	SelectVersion = `SELECT version FROM matchmaker_schema`
	// SelectConnections is how many connections the server takes, and how many of them it keeps
	// for its superusers.
	SelectConnections = `SELECT current_setting('max_connections')::int4, current_setting('superuser_reserved_connections')::int4`
)

// Codes of PostgreSQL's errors.
const (
	undefinedTable      = "42P01"
	foreignKeyViolation = "23503"
)
