package guardpage

import "testing"

// What the kernel's files say.
func TestTouches(t *testing.T) {
	if traced([]byte("Name:\tx\nTracerPid:\t0\nUid:\t0\n")) || !traced([]byte("Name:\tx\nTracerPid:\t17\nUid:\t0\n")) || traced(nil) {
		t.Error("who traces is misread")
	}
	if always("always [madvise] never\n") || !always("[always] madvise never\n") || !always("[always] inherit madvise never\n") {
		t.Error("huge pages are misread")
	}
}
