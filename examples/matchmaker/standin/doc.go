// Package standin has servers for machines that have none: PostgreSQL's protocol over maps,
// Redis (miniredis), and the scorer. The clients are the real ones, on real sockets. What a
// stand-in answers is right; what it costs is not a database's.
package standin
