package region

import (
	"errors"
	"strings"
	"testing"
)

func TestParsePosition(t *testing.T) {
	const (
		primary = "# Replication\r\nrole:master\r\nconnected_slaves:1\r\nmaster_replid:abc\r\nmaster_repl_offset:42\r\n"
		replica = "# Replication\r\nrole:slave\r\nmaster_host:h\r\nmaster_link_status:up\r\nslave_read_repl_offset:50\r\nslave_repl_offset:40\r\nmaster_replid:abc\r\nmaster_repl_offset:51\r\n"
	)
	for _, tt := range []struct {
		text    string
		replica bool
		want    position
		says    string
	}{
		{primary, false, position{"abc", 42, false}, ""},
		{replica, true, position{"abc", 40, true}, ""}, // what it has applied, and not what it has read
		{strings.Replace(replica, "up", "down", 1), true, position{"abc", 40, false}, ""},
		{primary, true, position{}, "is no replica"},
		{"role:master\r\n", false, position{}, "no master_replid"},
		{"role:master\r\nmaster_replid:abc\r\n", false, position{history: "abc"}, "invalid syntax"},
	} {
		p, err := parsePosition(tt.text, tt.replica)
		if p != tt.want || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %+v, %v; want %+v, %q", tt.text, p, err, tt.want, tt.says)
		}
	}
	if _, err := parsePosition(primary, true); !errors.Is(err, errNoReplica) {
		t.Error(err)
	}
}
