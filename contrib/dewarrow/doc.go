// Package dewarrow has Apache Arrow take its memory from a pool of dewpond. Arrow releases
// what it allocates by reference counts, so that its buffers can be reused.
package dewarrow
