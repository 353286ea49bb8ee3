// Package dewsync has a [Pool] that takes the place of a [sync.Pool]: it has the same field
// and the same methods, so that only an import changes. Its idle objects survive garbage
// collections, stay within a bound and go after a time without use. [dewpond.Pools] has its
// statistics, and checked mode finds misuse of its objects.
//
// One import also makes a program's pools safe for tests in bubbles of [testing/synctest], where a
// [sync.Pool] of objects with a channel or a timer ends the process.
//
// The page https://github.com/dewpond/dewpond/blob/main/docs/migrating.md has the commands
// that change a program, and those that change it back.
package dewsync
