package pressure

import (
	"bytes"
	"io"
	"io/fs"
	"math"
	"strconv"
)

// Unlimited stands for no limit.
const Unlimited = math.MaxInt64

// maxFile is more bytes than any file has that is read repeatedly: memory.stat, the
// longest, has about 2 KiB.
const maxFile = 16 << 10

// files reads small files of a tree into one buffer. All failures (a missing file, one
// without permission, garbage) are the same to the caller: no value.
//
// It opens a file each time. Reading a file that is kept open costs less than a fifth
// (BenchmarkOpened, BenchmarkKeptOpen), but a whole reading takes microseconds, once a
// second. And a library that holds descriptors forever needs a Close, shows up in its
// users' leak tests and uses up their limit on open files.
type files struct {
	root   fs.FS // nil: no files
	buffer [maxFile]byte
}

// read returns the content of a file. It is valid until the next call.
func (f *files) read(name string) (data []byte, ok bool) {
	if f.root == nil || name == "" {
		return nil, false
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	for n := 0; n < len(f.buffer); {
		m, err := file.Read(f.buffer[n:])
		n += m
		if err == io.EOF {
			return f.buffer[:n], true
		}
		if err != nil || m == 0 {
			return nil, false
		}
	}
	return nil, false // too long for such a file: half a number is worse than none
}

// number returns a file's only value.
func (f *files) number(name string) (value int64, ok bool) {
	data, ok := f.read(name)
	if !ok {
		return 0, false
	}
	return parseNumber(bytes.TrimSpace(data))
}

// limit returns a limit in bytes, or Unlimited if the file says so or cannot be read.
func (f *files) limit(name string) int64 {
	data, ok := f.read(name)
	if !ok {
		return Unlimited
	}
	return parseLimit(bytes.TrimSpace(data))
}

// field returns the text after a key in a file of lines "key value".
func (f *files) field(name, key string) (value []byte, ok bool) {
	data, ok := f.read(name)
	if !ok {
		return nil, false
	}
	for line := range bytes.Lines(data) {
		k, v, _ := bytes.Cut(line, []byte(" "))
		if string(k) == key {
			return bytes.TrimSpace(v), true
		}
	}
	return nil, false
}

// parseNumber parses a count of bytes.
func parseNumber(text []byte) (value int64, ok bool) {
	n, err := strconv.ParseUint(string(text), 10, 64)
	return int64(n), err == nil && n <= math.MaxInt64
}

// parseLimit parses a limit in bytes. For no limit version 2 writes max; version 1
// writes the largest multiple of the page size below 2^63, or 2^64-1 on old kernels. So
// any limit that no machine can reach means no limit.
func parseLimit(text []byte) int64 {
	n, ok := parseNumber(text)
	if !ok || n >= 1<<62 {
		return Unlimited
	}
	return n
}
