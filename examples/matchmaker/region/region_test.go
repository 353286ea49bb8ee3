package region

import (
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

func TestParse(t *testing.T) {
	regions, err := Parse("cn-east=a:1+b:2+c:3,us-west=d:4")
	if err != nil || len(regions) != 2 || regions[0].Primary != "a:1" || len(regions[0].Replicas) != 2 || regions[1].Name != "us-west" {
		t.Fatalf("%+v, %v", regions, err)
	}
	for text, want := range map[string]string{
		"":                      "is no region",
		"a:1":                   "is no region",
		"cn-east=+b:2":          "has no primary",
		"cn-east=a":             "is no HOST:PORT",
		"cn-east=a:1+":          "is no HOST:PORT",
		"x=a:1,y=b:1,x=c:1":     "is there twice",
		"cn-east=a:1,us-west=,": "has no primary",
		"cn-east=a:1+b:2+b:2":   "has b:2 twice",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), form) {
			t.Errorf("%q: %v, want %q and the form", text, err, want)
		}
	}
}

func TestIdleAboveActive(t *testing.T) {
	regions, _ := Parse("a=h:1")
	if _, err := New(regions, Options{MaxActive: 16, MaxIdle: 20}); err == nil || !strings.Contains(err.Error(), "20 idle connections of at most 16: no more can be idle than there are, so give at most 16") {
		t.Errorf("%v", err)
	}
}

func TestUnknownRegionGoesToTheFallback(t *testing.T) {
	east, west := miniredis.RunT(t), miniredis.RunT(t)
	m, err := New([]Nodes{{Name: "cn-east", Primary: east.Addr()}, {Name: "us-west", Primary: west.Addr()}}, Options{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, name := range []string{"us-west", "mars", "cn-east", ""} {
		if err := m.Set(t.Context(), name, name, []byte("x"), time.Minute); err != nil {
			t.Error(err)
		}
		if err := m.Fill(t.Context(), name, name, []byte("y"), time.Minute); err != nil { // the Set has been counted
			t.Error(err)
		}
	}
	if !east.Exists("mars") || !east.Exists("cn-east") || !west.Exists("us-west") || m.Unknown() != 2 {
		t.Errorf("east has %v, west %v; %d unknown", east.Keys(), west.Keys(), m.Unknown())
	}
	if b, err := m.Get(t.Context(), "us-west", "nothing"); b != nil || err != nil {
		t.Errorf("a key that is not there: %q, %v", b, err)
	}
	east.Close()
	if err := m.Set(t.Context(), "mars", "x", nil, time.Minute); err == nil || !strings.Contains(err.Error(), "cn-east") {
		t.Errorf("a server that is gone: %v, want its region", err)
	}
	if _, err := m.Get(t.Context(), "us-west", "us-west"); err != nil {
		t.Errorf("the other region notices: %v", err)
	}
}
