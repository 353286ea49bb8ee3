package dewexpvar_test

import (
	"encoding/json"
	"expvar"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewexpvar"
)

// What /debug/vars shows is a JSON object with every pool by its name, whatever that is, and
// each Budget once.
func TestVar(t *testing.T) {
	dewexpvar.Publish()
	dewexpvar.Publish() // once is enough
	name := "a \"name\",\nwith <all> of it"
	budget := dewpond.MustBudget("shared", 1<<20)
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: name, Budget: budget})
	defer p.Close()
	q := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "q", Budget: budget})
	defer q.Close()
	p.Put(p.Get(100))
	p.Get(100)

	var got struct {
		Pools   map[string]map[string]any
		Budgets map[string]map[string]any
		Level   *float64 `json:"pressure_level"`
	}
	if err := json.Unmarshal([]byte(expvar.Get("dewpond").String()), &got); err != nil {
		t.Fatal(err)
	}
	pool := got.Pools[name]
	s := p.Stats()
	if text, want := fmt.Sprint(pool["gets_total"]), fmt.Sprintf("map[128:map[hit:%d miss:%d]]", s.Hits, s.Misses); text != want || s.Gets != 2 {
		t.Errorf("gets_total: %s, want %s", text, want)
	}
	if pool["gets_minus_puts"] != 1.0 || len(got.Pools) != 2 || got.Level == nil {
		t.Errorf("%+v", got)
	}
	if len(got.Budgets) != 1 || got.Budgets["shared"]["budget_limit_bytes"] != float64(1<<20) {
		t.Errorf("budgets: %v", got.Budgets)
	}
}

// It may be read while pools come, work and go.
func TestVarUnderLoad(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
				p.Put(p.Get(1000))
				p.Close()
			}
		})
	}
	for range 50 {
		if text := dewexpvar.Var().String(); !json.Valid([]byte(text)) || !strings.Contains(text, "pressure_level") {
			t.Fatal(text)
		}
	}
	wg.Wait()
}

// What each P has is a variable of its own.
func TestShards(t *testing.T) {
	dewexpvar.PublishShards()
	dewexpvar.PublishShards() // once is enough
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "parts"})
	defer p.Close()
	p.Put(p.Get(100))
	if text := dewexpvar.Var().String(); strings.Contains(text, "shard_") {
		t.Errorf("it comes unasked: %s", text)
	}
	var got map[string]map[string]map[string]float64
	if err := json.Unmarshal([]byte(expvar.Get("dewpond_shards").String()), &got); err != nil {
		t.Fatal(err)
	}
	shards := p.Stats().Shards
	for id, of := range shards {
		for name, want := range map[string]int64{"shard_blocks": int64(of.Idle), "shard_bytes": of.IdleBytes} {
			if v, ok := got["parts"][name][fmt.Sprint(id)]; !ok || v != float64(want) {
				t.Errorf("%s of shard %d is %v (there: %v), want %d", name, id, v, ok, want)
			}
		}
	}
	if len(shards) == 0 || len(got) != 1 {
		t.Errorf("%d shards, %d pools", len(shards), len(got))
	}
}
