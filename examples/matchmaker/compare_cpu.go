package main

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// tick is the unit in which Linux tells the processor time of other processes.
const tick = 10 * time.Millisecond

// cpuOf is the processor time that a process has used, or -1 where the system has no /proc.
func cpuOf(pid int) time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return -1
	}
	// The name is in brackets, and may have anything in it; utime and stime are the 12th and 13th
	// field behind it.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return -1
	}
	used := time.Duration(0)
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return -1
		}
		used += time.Duration(n) * tick
	}
	return used
}
