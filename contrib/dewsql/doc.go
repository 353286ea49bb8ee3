// Package dewsql reads rows of a database into blocks of a pool, many at once, without an
// allocation for each value: those of database/sql by [database/sql.RawBytes], and those of
// pgx by its RawValues.
//
// To read one row at a time and be done with it before the next, scan into sql.RawBytes
// yourself: that needs no pool.
package dewsql
