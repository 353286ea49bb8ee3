package region

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// A position is how far a node has come in the writes of a primary.
type position struct {
	history string // of which writes: offsets of two histories cannot be compared
	offset  int64
	linked  bool // of a replica: the primary is there and sends
}

var errNoReplica = errors.New("it is no replica")

// position asks the node where it stands: as a replica, where what it has applied ends.
func (n *node) position(ctx context.Context) (position, error) {
	text, err := n.prober.Info(ctx, "replication").Result()
	if err != nil {
		return position{}, err
	}
	return parsePosition(text, n.replica)
}

func parsePosition(text string, replica bool) (p position, err error) {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	offset := "master_repl_offset"
	if replica {
		if fields["role"] != "slave" {
			return p, errNoReplica
		}
		offset = "slave_repl_offset"
	}
	p.history, p.linked = fields["master_replid"], fields["master_link_status"] == "up"
	if p.history == "" {
		return p, errors.New("INFO replication has no master_replid")
	}
	p.offset, err = strconv.ParseInt(fields[offset], 10, 64)
	return p, err
}
