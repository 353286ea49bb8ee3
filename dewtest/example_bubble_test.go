//go:build go1.25

package dewtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
)

// testUpload is a test as a user's package has it: two uploads share a megabyte, so the
// second waits for the first. In the bubble that takes no time.
func testUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("network", 1<<20)})
		upload := func() {
			b, err := pool.GetContext(context.Background(), 1<<20)
			if err != nil {
				t.Error(err)
				return
			}
			defer pool.Put(b)
			time.Sleep(time.Hour)
		}
		start := time.Now()
		go upload()
		synctest.Wait()
		upload()
		if took := time.Since(start); took != 2*time.Hour {
			t.Errorf("two uploads of an hour each took %v", took)
		}
	})
}

// In a bubble of testing/synctest, make the pool in the bubble, with the bubble's t.
func ExampleNewBytePool_bubble() {
	_ = testing.InternalTest{Name: "TestUpload", F: testUpload} // func TestUpload, in your tests
}
