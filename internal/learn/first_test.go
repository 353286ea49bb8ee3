package learn

import (
	"slices"
	"testing"

	"github.com/dewpond/dewpond/internal/sizeclass"
)

func table(classes ...int) *sizeclass.Table {
	t := sizeclass.New(classes)
	return &t
}

// until calls step until done, which the test binary's timeout ends.
func until(done func() bool, step func()) (steps int) {
	for ; !done(); steps++ {
		step()
	}
	return steps
}

// The size doubles when a block of it is outgrown, and falls by a quarter when that would
// have done, to no less than Least.
func TestFirstLearns(t *testing.T) {
	classes := table(sizeclass.Default()...)
	var f First
	f.Init(classes)
	if f.Size() != Least {
		t.Fatalf("it begins with %d bytes", f.Size())
	}
	for was := f.Size(); was < 1<<20; was = f.Size() {
		until(func() bool { return f.Size() != was }, func() { f.Outgrown(was) })
		if f.Size() != min(2*was, 1<<20) {
			t.Errorf("it rises from %d to %d", was, f.Size())
		}
	}
	for was := f.Size(); was > Least; was = f.Size() {
		for range 1000 {
			f.Sufficed(was-was/4+1, was)
		}
		if f.Size() != was {
			t.Errorf("%d bytes in a block of %d make it %d", was-was/4+1, was, f.Size())
		}
		until(func() bool { return f.Size() != was }, func() { f.Sufficed(was-was/4, was) })
		if least := was - was/4; f.Size() < max(least, Least) || f.Size() >= was {
			t.Errorf("it falls from %d to %d", was, f.Size())
		}
	}
	for range 1000 {
		f.Sufficed(0, Least)
	}
	if f.Size() != Least {
		t.Errorf("it falls to %d bytes", f.Size())
	}
}

// A block that was taken before the size went elsewhere teaches nothing.
func TestFirstForgetsOldBlocks(t *testing.T) {
	var f First
	f.Init(table(sizeclass.Default()...))
	until(func() bool { return f.Size() != Least }, func() { f.Outgrown(Least) })
	for range 1000 {
		f.Outgrown(Least)
		f.Sufficed(10, 4096)
	}
	if f.Size() != 2*Least {
		t.Errorf("its size is %d", f.Size())
	}
}

// Most calls leave the size alone, so that they write to no memory that others read.
func TestFirstLearnsFromFew(t *testing.T) {
	classes := table(512, 1024)
	learned := 0
	for range 10_000 {
		var f First
		f.Init(classes)
		if f.Outgrown(512); f.Size() != 512 {
			learned++
		}
	}
	if learned == 0 || learned > 10_000/4 {
		t.Errorf("%d of 10,000 calls change it, want about one in %d", learned, learnOneIn)
	}
}

// The size is a class, whatever the classes are.
func TestFirstIsAClass(t *testing.T) {
	for _, classes := range [][]int{{64}, {64, 256}, {1024}, {64, 512, 65536}} {
		var f First
		f.Init(table(classes...))
		for i := range 1000 {
			f.Outgrown(f.Size())
			f.Sufficed(i%100, f.Size())
			if !slices.Contains(classes, f.Size()) {
				t.Fatalf("classes %v: %d bytes", classes, f.Size())
			}
		}
	}
}
