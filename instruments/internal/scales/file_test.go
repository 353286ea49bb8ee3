package scales

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func TestLast(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	if m, err := Last(); m != nil || err != nil {
		t.Fatalf("before the first calibration: %+v, %v", m, err)
	}
	want := Measured{Time: time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC), Limits: map[string]float64{"grpc": 4000}}
	name, err := want.Keep()
	if err != nil {
		t.Fatal(err)
	}
	if m, err := Last(); err != nil || !reflect.DeepEqual(*m, want) {
		t.Errorf("%+v, %v", m, err)
	}
	if err := os.WriteFile(filepath.Clean(name), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if m, err := Last(); err == nil {
		t.Errorf("half a file is %+v", m)
	}
}
