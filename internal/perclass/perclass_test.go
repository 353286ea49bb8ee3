package perclass

import (
	"sync/atomic"
	"testing"

	"github.com/dewpond/dewpond/internal/go125"
)

// All goroutines have the same elements, whoever asks first, and each is prepared.
func TestList(t *testing.T) {
	for range 200 {
		var l List[struct {
			class int
			uses  atomic.Int64
		}]
		l.Init(3, func(class int, of *struct {
			class int
			uses  atomic.Int64
		}) {
			of.class = class + 1
		})
		if l.Made() != nil {
			t.Fatal("there are elements before any was asked for")
		}
		var ready, done go125.WaitGroup
		begin := make(chan struct{})
		for range 4 {
			ready.Add(1)
			done.Go(func() {
				ready.Done()
				<-begin
				for class := range uint8(3) {
					l.At(class).uses.Add(1)
				}
			})
		}
		ready.Wait()
		close(begin)
		done.Wait()
		for class := range l.Made() {
			if of := l.At(uint8(class)); of.class != class+1 || of.uses.Load() != 4 {
				t.Fatalf("the element of class %d is prepared as %d and was used %d times, want 4", class, of.class-1, of.uses.Load())
			}
		}
		if n := len(l.Made()); n != 3 {
			t.Fatalf("%d elements, want 3", n)
		}
	}
}
