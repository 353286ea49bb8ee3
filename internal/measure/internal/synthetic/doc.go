// Package synthetic makes up rounds for tests, the same each time.
package synthetic
