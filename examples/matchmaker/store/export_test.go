package store

// For tests that look at the pool of a Store.
type (
	PgxStore = pgxStore
	SQLStore = sqlStore
)
