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
