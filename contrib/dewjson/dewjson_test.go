package dewjson_test

import (
	"encoding/json"
	"fmt"
	"go/build/constraint"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewjson"
	"github.com/dewpond/dewpond/dewtest"
)

type order struct {
	ID     int     `json:"id"`
	Symbol string  `json:"symbol"`
	Price  float64 `json:"price"`
	Raw    json.RawMessage
	Client any `json:"client"`
}

func orders(n int) []order {
	list := make([]order, n)
	for i := range list {
		list[i] = order{100_000 + i, "BTC-USD <b>", 64123.5, json.RawMessage(`{"a":[1,2]}`), "c-90210-7"}
	}
	return list
}

func TestAsJSON(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	bodies := dewjson.New(pool)
	for _, n := range []int{0, 1, 10, 1000} {
		want, err := json.Marshal(orders(n))
		if err != nil {
			t.Fatal(err)
		}
		body, err := bodies.Marshal(orders(n))
		if err != nil || body.String() != string(want) {
			t.Errorf("got %.100q, %v, want %.100q", body, err, want)
		}
		var got []order
		if err := bodies.Unmarshal(body, &got); err != nil || !reflect.DeepEqual(got, orders(n)) {
			t.Errorf("%d orders: got %d, %v", n, len(got), err)
		}
		bodies.Put(body)
	}
}

type bomb struct{}

func (bomb) MarshalJSON() ([]byte, error) { panic("bomb") }

func TestErrors(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	bodies := dewjson.New(pool)
	for range 3 {
		if body, err := bodies.Marshal(func() {}); err == nil {
			t.Errorf("a func is encoded as %q", body)
		}
		func() {
			defer func() { recover() }()
			bodies.Marshal(bomb{})
		}()
		var v any
		for _, r := range []io.Reader{strings.NewReader("{"), iotest.TimeoutReader(strings.NewReader("[1,2,3]"))} {
			if err := bodies.Unmarshal(r, &v); err == nil {
				t.Errorf("no error, but %v", v)
			}
		}
	}
	for p := range dewpond.Pools() {
		if s := p.Stats(); s.Gets != s.Puts {
			t.Errorf("pool %s: %d gets, %d puts", s.Name, s.Gets, s.Puts)
		}
	}
}

// The Lease of a Body is its bytes, and holds little more, also after Put.
func TestBodyLease(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	bodies := dewjson.New(pool)
	body, err := bodies.Marshal("alice's")
	if err != nil {
		t.Fatal(err)
	}
	l := body.Lease()
	defer l.Release()
	bodies.Put(body)
	other, err := bodies.Marshal("bob's")
	if err != nil {
		t.Fatal(err)
	}
	bodies.Put(other)
	if s := pool.Stats(); string(l.Bytes()) != `"alice's"` || s.InUseBytes != 64 {
		t.Errorf("%q, %+v", l.Bytes(), s)
	}
}

// MarshalV2 and UnmarshalV2 are built wherever encoding/json/v2 is there: with the experiment, and from Go 1.28 on also
// where Go no longer has a tag for it.
func TestV2IsBuilt(t *testing.T) {
	for _, name := range []string{"v2.go", "v2_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		built, err := constraint.Parse(line)
		if err != nil {
			t.Fatal(name, err)
		}
		for tag, want := range map[string]bool{"": false, "go1.26": false, "go1.27": false, "goexperiment.jsonv2": true, "go1.28": true} {
			if built.Eval(func(t string) bool { return t == tag }) != want {
				t.Errorf("%s is built with the tag %q: %v, want %v", name, tag, !want, want)
			}
		}
	}
}

// A second Put would give a body two owners.
func TestPutTwice(t *testing.T) {
	bodies := dewjson.New(dewtest.NewBytePool(t, dewpond.BytePoolOptions{}))
	bodies.Put(nil)
	body, err := bodies.Marshal("alice's")
	if err != nil {
		t.Fatal(err)
	}
	bodies.Put(body)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the second Put does not panic")
			}
		}()
		bodies.Put(body)
	}()
	a, errA := bodies.Marshal("alice's")
	b, errB := bodies.Marshal("bob's")
	if errA != nil || errB != nil || a == b || a.String() != `"alice's"` {
		t.Errorf("%q and %q, %v, %v", a, b, errA, errB)
	}
	bodies.Put(a)
	bodies.Put(b)
}

func TestClientsHangUp(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	bodies := dewjson.New(pool)
	var handlers sync.WaitGroup
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers.Add(1)
		defer handlers.Done()
		var v []order
		if err := bodies.Unmarshal(r.Body, &v); err != nil {
			return
		}
		body, err := bodies.Marshal(v)
		if err != nil {
			t.Error(err)
			return
		}
		defer bodies.Put(body)
		body.WriteTo(w)
	}))
	content, err := json.Marshal(orders(1000))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			body := io.Reader(strings.NewReader(string(content)))
			if i%2 == 0 { // sends half of it
				body = io.MultiReader(io.LimitReader(body, int64(len(content)/2)), iotest.ErrReader(fmt.Errorf("gone")))
			}
			res, err := http.Post(server.URL, "application/json", body)
			if err != nil {
				return
			}
			defer res.Body.Close()
			if i%3 == 0 { // reads half of it
				io.CopyN(io.Discard, res.Body, int64(len(content)/2))
			} else if got, err := io.ReadAll(res.Body); i%2 == 1 && (err != nil || string(got) != string(content)) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	wg.Wait()
	server.Close()
	handlers.Wait()
}
