package dewpond_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
)

// A Stats prints as one line, and as two if something deserves a look.
func TestStatsString(t *testing.T) {
	quiet := dewpond.Stats{
		Name: "frames", Gets: 1000, Hits: 990, Misses: 10, Puts: 997, IdleBytes: 3 << 20, InUseBytes: 6144,
		Classes: make([]dewpond.ClassStats, 58),
	}
	const first = "frames: 1000 Gets, 99.0% hits, 10 Misses, 997 Puts; 3.0 MiB idle, 6144 B in use"
	busy := quiet
	busy.Violations, busy.Refused, busy.Waits, busy.WaitDuration = 1, 2, 3, 4*time.Second
	busy.OverLimit, busy.OverBudget, busy.HeapFallback, busy.Oversize = 5, 6, 7, 8
	busy.DroppedFull, busy.DroppedOversize, busy.DroppedForeign, busy.DroppedDouble, busy.DroppedFallback, busy.DroppedClosed = 1, 2, 3, 4, 5, 6
	for _, tt := range []struct {
		s    dewpond.Stats
		want string
	}{
		{dewpond.Stats{Name: "new"}, "new: 0 Gets, 0.0% hits, 0 Misses, 0 Puts; 0 B idle, 0 B in use"},
		{quiet, first},
		{busy, first + "\n  1 Violations, 2 Refused, 3 Waits of 4s together, 5 OverLimit, 6 OverBudget, 7 HeapFallback, 8 Oversize, " +
			"21 Dropped (Full 1, Oversize 2, Foreign 3, Double 4, Fallback 5, Closed 6)"},
	} {
		if got := fmt.Sprintf("%v", tt.s); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
	for n, want := range map[int64]string{
		-1: "-1 B", 10<<10 - 1: "10239 B", 10 << 10: "10.0 KiB", 100 << 10: "100 KiB", 1023 << 10: "1.0 MiB", 5 << 30: "5.0 GiB", 1<<63 - 1: "8.0 EiB",
	} {
		if got := (dewpond.Stats{IdleBytes: n}).String(); !strings.Contains(got, "; "+want+" idle") {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}

// Options and leases print as words.
func TestWords(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Name: "words"})
	l := p.Lease(100)
	part := l.Slice(10, 30)
	text := fmt.Sprint(l, "; ", part)
	part.Release()
	l.Release()
	for _, tt := range []struct{ got, want string }{
		{text, `Lease of 100 bytes of "words"; Lease of 20 bytes of "words"`},
		{fmt.Sprint(l, part, dewpond.Lease{}), "released Lease released Lease released Lease"},
		{fmt.Sprint(dewpond.CheckOff, dewpond.CheckSampled, dewpond.CheckAll, dewpond.CheckMode(9)), "off sampled all CheckMode(9)"},
		{fmt.Sprint(dewpond.ZeroOnPut, ", ", dewpond.ZeroOnGet, ", ", dewpond.ZeroNever, ", ", dewpond.ZeroPolicy(9)),
			"zero on Put, zero on Get, zero never, ZeroPolicy(9)"},
		{fmt.Sprint((*dewpond.Budget)(nil)), "no Budget"},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}

// Sub subtracts every count, and keeps what is true now. A field that is new to Stats fails
// this test until it is in one of the two.
func TestSubKnowsEveryField(t *testing.T) {
	now := map[string]bool{
		"Name": true, "Engine": true, "Bubbles": true, "Guard": true, "GuardRate": true, "IdleBytes": true, "InUseBytes": true, "OldestIdle": true,
		"BudgetName": true, "BudgetLimit": true, "BudgetUsed": true, "OverBudgetBytes": true,
		"OverheadBytes": true, "ReservedBytes": true, "CommittedBytes": true, "Size": true, "Idle": true, "InUse": true,
	}
	fill := func(v reflect.Value, by int64) {
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.Uint64:
				f.SetUint(uint64(by))
			case reflect.Int, reflect.Int64:
				f.SetInt(by)
			case reflect.Float64:
				f.SetFloat(float64(by))
			case reflect.String:
				f.SetString(fmt.Sprint(by))
			}
		}
	}
	stats := func(by int64) dewpond.Stats {
		s := dewpond.Stats{Classes: make([]dewpond.ClassStats, 2), Sampled: &dewpond.Sampled{Watched: uint64(by)}, Shards: []dewpond.ShardStats{{Idle: int(by), IdleBytes: 64 * by}}}
		fill(reflect.ValueOf(&s).Elem(), by)
		for i := range s.Classes {
			fill(reflect.ValueOf(&s.Classes[i]).Elem(), by)
		}
		return s
	}
	later := stats(10)
	since := later.Sub(stats(3))
	check := func(of string, v reflect.Value) {
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			want := "7"
			if now[name] {
				want = "10"
			}
			got := fmt.Sprintf("%d", v.Field(i).Interface())
			if k := v.Field(i).Kind(); k == reflect.String || k == reflect.Float64 {
				got = fmt.Sprint(v.Field(i).Interface())
			}
			if name != "Classes" && name != "Shards" && name != "Sampled" && got != want {
				t.Errorf("%s.%s is %s, want %s", of, name, got, want)
			}
		}
	}
	check("Stats", reflect.ValueOf(since))
	for _, c := range since.Classes {
		check("ClassStats", reflect.ValueOf(c))
	}
	if want := (dewpond.ShardStats{Idle: 10, IdleBytes: 640}); len(since.Shards) != 1 || since.Shards[0] != want {
		t.Errorf("shards: %+v, want %+v", since.Shards, want)
	}
	if since.Sampled.Watched != 7 {
		t.Errorf("%d are watched, want 7", since.Sampled.Watched)
	}
	if later.Classes[0].Gets != 10 || later.Sampled.Watched != 10 {
		t.Error("Sub changes what it is called on")
	}
}
