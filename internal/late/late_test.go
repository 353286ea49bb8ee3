package late

import (
	"runtime"
	"slices"
	"testing"
)

// ended calls End in a separate goroutine and returns what it panicked with.
func ended(l *List) (panicked any) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		l.End()
	}()
	<-done
	return panicked
}

func TestEndCallsEveryReport(t *testing.T) {
	var l List
	var called []int
	for i := range 4 {
		l.Add(func() {
			called = append(called, i)
			switch i {
			case 1:
				panic("a report")
			case 2:
				runtime.Goexit()
			}
		})
	}
	ended(&l)
	if !slices.Equal(called, []int{0, 1, 2, 3}) {
		t.Errorf("the reports %v were called", called)
	}
	if ended(&l) != nil || len(called) != 4 {
		t.Error("a second End does something")
	}
}

func TestEndPanicsAsTheFirstCallbackDid(t *testing.T) {
	var l List
	reported := false
	l.Add(func() { reported = true })
	for _, what := range []any{nil, "first", "second"} {
		func() {
			defer l.Catch()
			if what != nil {
				panic(what)
			}
		}()
	}
	if got := ended(&l); got != "first" || !reported {
		t.Errorf("End panics with %v, want first; reported: %v", got, reported)
	}
	if got := ended(&l); got != nil {
		t.Errorf("a second End panics with %v", got)
	}
}

// Finish makes all steps, whatever they do, on little stack, and panics as the first did.
func TestFinish(t *testing.T) {
	const steps = 1_000_000
	for _, tt := range []struct {
		name string
		at   func(i int)
		want any
	}{
		{"nothing", func(int) {}, nil},
		{"a panic", func(i int) {
			if i == 10 || i == 20 {
				panic(i)
			}
		}, 10},
		{"panics only", func(i int) { panic(i) }, 0},
		{"Goexit", func(i int) {
			if i == 10 || i == 20 {
				runtime.Goexit()
			}
		}, nil},
		{"a panic, then Goexit", func(i int) {
			if i == 10 {
				panic(i)
			} else if i == 20 {
				runtime.Goexit()
			}
		}, nil},
	} {
		made := 0
		var panicked any
		done := make(chan bool)
		go func() {
			defer close(done)
			defer func() { panicked = recover() }()
			Finish(func() bool {
				if made == steps {
					return false
				}
				made++
				tt.at(made - 1)
				return true
			})
		}()
		<-done
		if made != steps || panicked != tt.want {
			t.Errorf("%s: %d steps, and it panics with %v, want %v", tt.name, made, panicked, tt.want)
		}
	}
}
