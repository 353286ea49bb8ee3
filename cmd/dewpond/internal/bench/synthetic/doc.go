// Package synthetic makes rounds for tests. They are the same each time.
package synthetic
