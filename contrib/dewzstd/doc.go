// Package dewzstd decompresses zstd frames into blocks of a pool, with the decoder of
// github.com/klauspost/compress/zstd. That decoder appends to the slice that it is given,
// and makes a new one where it is too small: so the block must be as large as the frame's
// header says.
package dewzstd
