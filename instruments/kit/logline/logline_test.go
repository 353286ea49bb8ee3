package logline

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	l := Line{Time: time.Unix(1, 5e8).UTC(), Session: 29, Step: "request", Path: "/a?b", Duration: Milliseconds(1500 * time.Microsecond)}
	for _, c := range []struct{ body, want string }{
		{"ü", `"body":"ü"`},
		{"\xff\x00", `"body_hex":"ff00"`},
		{strings.Repeat("x", longestBody+1), ""},
	} {
		l.Body, l.Hex = "", ""
		l.Keep([]byte(c.body))
		b, err := json.Marshal(l)
		want := `{"time":"1970-01-01T00:00:01.5Z","session":29,"step":"request","path":"/a?b","sent":0,"received":0,"first_byte_ms":0,"duration_ms":1.5`
		if c.want != "" {
			want += "," + c.want
		}
		if err != nil || string(b) != want+"}" {
			t.Errorf("%s, %v", b, err)
		}
	}
}
