package misuse

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// one, two and three return stacks that differ.
func one() []uintptr   { return thisStack() }
func two() []uintptr   { return thisStack() }
func three() []uintptr { return thisStack() }

//go:noinline
func thisStack() []uintptr {
	room := make([]uintptr, 1)
	return room[:runtime.Callers(2, room)]
}

// headings returns a report without the lines of its stacks.
func headings(r Violation) string {
	var lines []string
	for line := range strings.Lines(r.String()) {
		if !strings.HasPrefix(line, "\t") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(lines, "\n")
}

// A report says what was misused, and where, in the order of events.
func TestReportString(t *testing.T) {
	got, put, offence := one(), two(), three()
	for _, tt := range []struct {
		r    Violation
		want string
	}{
		{Violation{Kind: Leak, Size: 64, Age: 1234567, Got: got, Pool: "p"},
			"dewpond: leak: 64 bytes of pool \"p\"\ngot 1.23ms ago at"},
		{Violation{Kind: Leak, Size: 64, Count: 2, Bytes: 128, Got: got, Pool: "p"},
			"dewpond: leak: 2 blocks of 64 bytes, 128 in all, of pool \"p\"\ngot up to 0s ago at"},
		{Violation{Kind: Leak, Size: 64, Count: 2, Bytes: 100, Got: got, Pool: "p", Type: "T"},
			"dewpond: leak: 2 of type T of up to 64 bytes, 100 in all, of pool \"p\"\ngot up to 0s ago at"},
		{Violation{Kind: Leak, Size: 64, Got: got, Owners: [][]uintptr{got, put, offence, put}, Pool: "p"},
			"dewpond: leak: 64 bytes of pool \"p\", owners that have not released: 4\n" +
				"got 0s ago, and not released, at\nretained 2 times, and not released, at\nretained, and not released, at"},
		{Violation{Kind: Leak, Size: 64, Got: got, Owners: [][]uintptr{put}, Pool: "p"},
			"dewpond: leak: 64 bytes of pool \"p\", owners that have not released: 1\ngot 0s ago, and released, at\nretained, and not released, at"},
		{Violation{Kind: DoublePut, Size: 64, Got: got, Put: put, Offence: offence, Pool: "p"},
			"dewpond: double Put: 64 bytes of pool \"p\"\ngot at\nput back 0s ago at\nput back again at"},
		{Violation{Kind: DoubleRelease, Size: 64, Got: got, Put: put, Offence: offence, Pool: "p"},
			"dewpond: double Release: 64 bytes of pool \"p\"\nmade at\nreleased 0s ago at\nreleased again at"},
		{Violation{Kind: ForeignPut, Size: 64, Holder: "q", Got: got, Put: put, Offence: offence, Pool: "p"},
			"dewpond: Put of a foreign slice: 64 bytes put back to pool \"p\"\n  it begins in a block of pool \"q\"\n" +
				"that block: got at\nthat block: put back 0s ago at\nput back at"},
		{Violation{Kind: InteriorPut, Size: 64, Offset: 16, Offence: offence, Pool: "p"},
			"dewpond: Put of the inside of a block: 64 bytes of pool \"p\"\n  it begins at offset 16 of the block\nput back at"},
		{Violation{Kind: UseAfterPut, Size: 64, Offset: 3, Offence: offence, Pool: "p"},
			"dewpond: use after Put: 64 bytes of pool \"p\"\n  touched at offset 3\ntouched at"},
		{Violation{Kind: PastEnd, Size: 64, Offset: 64, Pool: "p"},
			"dewpond: use past the end of a block: 64 bytes of pool \"p\"\n  touched at offset 64"},
		{Violation{Kind: WriteAfterPut, Size: 64, Offset: 8, Written: 2, Old: []byte{0, 0}, New: []byte("hi"), Offence: offence,
			Pool: "p", Type: "T", Field: "A.B", Advice: "look there"},
			"dewpond: write after Put: a T of 64 bytes of pool \"p\"\n  written at offset 8, in field A.B, over 2 bytes\n" +
				"  was 00 00\n  is  68 69  \"hi\"\nfound at\nlook there"},
		{Violation{Kind: WriteAfterPut, Size: 64, Written: 50, Old: []byte{0}, New: []byte{0xff}, Pool: "p"},
			"dewpond: write after Put: 64 bytes of pool \"p\"\n  written at offset 0, over 50 bytes, of which these are the first 1\n  was 00\n  is  ff"},
	} {
		if got := headings(tt.r); got != tt.want {
			t.Errorf("got\n%s\nwant\n%s", got, tt.want)
		}
	}
	if got := Kind(99).String(); got != "Kind(99)" {
		t.Errorf("an unknown kind prints as %s", got)
	}
}

// Below its title a stack has two lines for each frame.
func TestReportHasStacks(t *testing.T) {
	r := Violation{Kind: DoublePut, Got: one(), Put: two()}
	want := `(?s)got at\n\t\S+/misuse\.one\n\t\t\S+text_test\.go:\d+\nput back 0s ago at\n\t\S+/misuse\.two\n\t\t\S+text_test\.go:\d+$`
	if !regexp.MustCompile(want).MatchString(r.String()) {
		t.Errorf("%v", r)
	}
}

func TestAbout(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 1234: "1.23µs", 123_456: "123µs", 12_345_678_901: "12.3s", time.Hour + 234567: "1h0m0s",
	} {
		if got := about(d).String(); got != want {
			t.Errorf("%d ns is about %s, want %s", d, got, want)
		}
	}
}
