package rig

import (
	"errors"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
)

func TestPrimaryOf(t *testing.T) {
	for _, text := range []string{"h:1", "a=h:1", "a=h:1+r:2,b=x:3", "a=h:1,b=x:3"} {
		if got := primaryOf(text); got != "h:1" {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Where a program is not installed, auto is a stand-in, and private is refused.
func TestPrivateWithoutPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, flag := range []string{auto, ""} {
		postgres, redis := standIn, flag
		s, err := privately(&postgres, &redis, realserver.Spec{Regions: []string{"a"}})
		if err != nil || redis != standIn || s.Close() != nil {
			t.Errorf("%q: %s, %v", flag, redis, err)
		}
	}
	postgres, redis := "postgres://h/d", private
	_, err := privately(&postgres, &redis, realserver.Spec{Regions: []string{"a"}})
	if !errors.As(err, new(command.UsageError)) || !containsAll(err.Error(), "--redis private: redis-server is not installed", "standin") {
		t.Error(err)
	}
	redis = "h:1"
	if s, err := privately(&postgres, &redis, realserver.Spec{}); err != nil || redis != "h:1" || postgres != "postgres://h/d" || s.Close() != nil {
		t.Errorf("addresses: %s, %s, %v", postgres, redis, err)
	}
}
