//go:build twin

package missingput

import (
	"errors"
	"testing"

	"testdata.example/src/ran"
	"testdata.example/src/twin"
)

func init() {
	twin.Spoil(func(i *int) { *i = -1 })
	twin.Spoil(func(e *event) { e.n = -1 })
	twin.Spoil(func(h *hasher) { h.sums = nil })
}

type marshals struct{ err error }

func (m marshals) MarshalTo([]byte) error { return m.err }

// TestOfSyncUnderCheckAll runs the shapes whose objects are out of a sync.Pool.
func TestOfSyncUnderCheckAll(t *testing.T) {
	ran.Run(t, []ran.Shape{
		twin.Bad("ofSync", func(tb testing.TB) { ofSync(0) }),
		twin.Good("ofSync, the other", func(tb testing.TB) { ofSync(1) }),
		twin.Good("noneThere", func(tb testing.TB) { noneThere() }),
		twin.Good("typeSwitch", func(tb testing.TB) { typeSwitch() }),
		twin.Bad("marshal", func(tb testing.TB) { marshal(marshals{errors.New("no")}) }),
		twin.Good("marshal, the other", func(tb testing.TB) { marshal(marshals{}) }),
		twin.Bad("neverOfSync", func(tb testing.TB) { neverOfSync() }),
		twin.Bad("hashed", func(tb testing.TB) { hashed(new(request)) }),
		twin.Good("asksFirst", func(tb testing.TB) { asksFirst(true) }),
		twin.Good("asksFirst, not on", func(tb testing.TB) { asksFirst(false) }),
	})
}
