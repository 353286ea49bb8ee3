package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

//go:embed schema.sql
var schema string

// SchemaVersion is the version of the schema that this program is for. It is in schema.sql too.
const SchemaVersion = 1

// Prepare makes the schema and its users where the database has none, and refuses one of another
// version.
func Prepare(ctx context.Context, c *pgx.Conn) error {
	version, err := schemaVersion(ctx, c)
	if code(err) == undefinedTable {
		if err := create(ctx, c); err != nil {
			return fmt.Errorf("making the schema: %w", err)
		}
		version, err = schemaVersion(ctx, c)
	}
	if err == nil && version != SchemaVersion {
		err = fmt.Errorf("the database has version %d of the schema, and this program is for version %d: give it another database", version, SchemaVersion)
	}
	return err
}

func schemaVersion(ctx context.Context, c *pgx.Conn) (version int32, err error) {
	err = c.QueryRow(ctx, SelectVersion).Scan(&version)
	return version, err
}

// create makes the schema in one transaction. Of several services that start at once, one does.
func create(ctx context.Context, c *pgx.Conn) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		var made bool
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(7263548)`); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT to_regclass('matchmaker_schema') IS NOT NULL`).Scan(&made); err != nil || made {
			return err
		}
		if _, err := tx.Exec(ctx, schema); err != nil {
			return err
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"users"},
			[]string{"uid", "name", "age", "region", "interests", "min_age", "max_age", "popularity", "version"},
			pgx.CopyFromSlice(Users, func(i int) ([]any, error) {
				u := Seeded(int64(i) + 1)
				return []any{u.UID, u.Name, u.Age, u.Region, u.Interests, u.MinAge, u.MaxAge, u.Popularity, u.Version}, nil
			}))
		return err
	})
}

// code is the code of PostgreSQL's error in err, or empty.
func code(err error) string {
	var e interface{ SQLState() string } // of pgx and of lib/pq
	if errors.As(err, &e) {
		return e.SQLState()
	}
	return ""
}
