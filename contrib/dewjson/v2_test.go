//go:build goexperiment.jsonv2 || go1.28

package dewjson_test

import (
	"encoding/json/v2"
	"reflect"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewjson"
	"github.com/dewpond/dewpond/dewtest"
)

func TestV2(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	bodies := dewjson.New(pool)
	for _, n := range []int{0, 1, 10, 1000} {
		want, err := json.Marshal(orders(n))
		if err != nil {
			t.Fatal(err)
		}
		body, err := bodies.MarshalV2(orders(n))
		if err != nil || body.String() != string(want) {
			t.Errorf("got %.100q, %v, want %.100q", body, err, want)
		}
		var got []order
		if err := bodies.UnmarshalV2(body, &got); err != nil || !reflect.DeepEqual(got, orders(n)) {
			t.Errorf("%d orders: got %d, %v", n, len(got), err)
		}
		bodies.Put(body)
	}
	if body, err := bodies.MarshalV2(func() {}); err == nil {
		t.Errorf("a func is encoded as %q", body)
	}
}
