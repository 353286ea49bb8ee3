// Package ok10 encrypts blobs for a repository.
package ok10

import (
	"crypto/cipher"
	"crypto/rand"
	"sync"
)

var bufPool = sync.Pool{
	New: func() any {
		b := make([]byte, 0, 512)
		return &b
	},
}

// Backend stores blobs and does not keep p.
type Backend interface {
	Save(name string, p []byte) error
}

// Repo seals blobs before it saves them.
type Repo struct {
	aead cipher.AEAD
	be   Backend
}

// SaveBlob seals data and saves it under the name.
func (r *Repo) SaveBlob(name string, data []byte) (int, error) {
	bp := bufPool.Get().(*[]byte)
	sealed := (*bp)[:0]
	defer func() {
		*bp = sealed[:0]
		bufPool.Put(bp)
	}()
	var nonce [12]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return 0, err
	}
	sealed = append(sealed, nonce[:]...)
	sealed = r.aead.Seal(sealed, nonce[:], data, []byte(name))
	if err := r.be.Save(name, sealed); err != nil {
		return 0, err
	}
	return len(sealed), nil
}
