package unfit

import (
	"database/sql"
	"net"
	"os"
	"sync"
	"time"

	"github.com/dewpond/dewpond"
)

var pool sync.Pool

func conn(c net.Conn, f *os.File, db *sql.DB, t *time.Timer, m *sync.Mutex) {
	pool.Put(c)  // want `net.Conn is a handle, not memory: do not pool it \(unfit\)`
	pool.Put(f)  // want `os.File is a handle`
	pool.Put(db) // want `sql.DB is a handle`
	pool.Put(m)  // want `sync.Mutex is a handle`
	pool.Put(t)
}

type session struct{ c net.Conn }

func field(s *session) { pool.Put(s) }

var files = dewpond.MustPool(dewpond.PoolOptions[os.File]{Name: "files"}) // want `os.File is a handle`

var sessions = dewpond.MustPool(dewpond.PoolOptions[session]{Name: "sessions"})

// Handles as they come out of a pool, and as New makes them.
var databases = sync.Pool{New: func() any { // want `sql.DB is a handle`
	db, err := sql.Open("driver", "name")
	if err != nil {
		panic(err)
	}
	return db
}}

func ping() error {
	db := databases.Get().(*sql.DB)
	defer databases.Put(db) // want `sql.DB is a handle`
	return db.Ping()
}

func connected() {
	if c, ok := pool.Get().(*sql.Conn); ok {
		pool.Put(c) // want `sql.Conn is a handle`
	}
}
