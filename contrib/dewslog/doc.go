// Package dewslog has a handler for log/slog that formats each record as a line of JSON in
// a block of a pool, and writes it with one Write. The handler of log/slog does the same in
// buffers of its own, but makes a new one for each record of more than 16 KiB, and formats
// while it holds a lock on the writer.
package dewslog
