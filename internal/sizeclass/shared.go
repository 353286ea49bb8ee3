package sizeclass

import (
	"fmt"
	"runtime"
	"sync"
	"weak"
)

// shared are the tables that Shared has made and that are in use, by what [fmt.Sprint] makes of
// their classes.
var shared struct {
	mu     sync.Mutex
	tables map[string]weak.Pointer[Table]
}

// Shared is [New] that returns one Table for all callers that have the same classes: it is larger
// than all else that an unused pool has, and in a program with many pools it stays in the cache.
func Shared(classes []int) *Table {
	name := fmt.Sprint(classes)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if t := shared.tables[name].Value(); t != nil {
		return t
	}
	if shared.tables == nil {
		shared.tables = make(map[string]weak.Pointer[Table])
	}
	t := new(Table)
	*t = New(classes)
	shared.tables[name] = weak.Make(t)
	runtime.AddCleanup(t, forget, name)
	return t
}

// forget is called once the collector has found that nobody uses a table. Meanwhile there may be
// another of the same name.
func forget(name string) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.tables[name].Value() == nil {
		delete(shared.tables, name)
	}
}
