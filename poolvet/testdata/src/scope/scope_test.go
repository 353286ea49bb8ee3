package scope

import (
	"testing"

	"github.com/dewpond/dewpond"
	"testdata.example/src/ran"
)

func TestUnderCheckAll(t *testing.T) {
	type pool = *dewpond.BytePool
	ran.Run(t, []ran.Shape{
		{"returned", true, func(tb testing.TB, p pool) { b := returned(p); b[0] = 1 }},
		{"stored", true, func(tb testing.TB, p pool) {
			var h holder
			h.stored(p)
			h.piece[0] = 1
		}},
		{"sent", true, func(tb testing.TB, p pool) {
			c := make(chan []byte, 1)
			sent(p, c)
			b := <-c
			b[0] = 1
		}},
		{"given", true, func(tb testing.TB, p pool) {
			turn, done := make(chan bool), make(chan bool)
			given(p, func(b []byte) {
				<-turn
				b[0] = 1
				close(done)
			})
			close(turn)
			<-done
		}},
		{"slices", true, func(tb testing.TB, p pool) { s := slices(p); s[0] = 1 }},
		{"late", true, func(tb testing.TB, p pool) {
			if late(p) != 0 {
				tb.Errorf("what it reads is poison")
			}
		}},
		{"getLate", true, func(tb testing.TB, p pool) { getLate(p) }},
		{"copied", false, func(tb testing.TB, p pool) { copied(p) }},
		{"twice", false, func(tb testing.TB, p pool) { twice(p) }},
		{"afterwards", false, func(tb testing.TB, p pool) { afterwards(p, func(b []byte) { b[0] = 1 }) }},
	})
}
