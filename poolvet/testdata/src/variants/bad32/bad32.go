// Package bad32 encrypts blobs for a repository.
package bad32

import (
	"crypto/cipher"
	"crypto/rand"
	"sync"
)

var bufPool = sync.Pool{
	New: func() any { return make([]byte, 0, 512) },
}

func getBuf() []byte { return bufPool.Get().([]byte)[:0] }

func freeBuf(b []byte) {
	bufPool.Put(b)
}

// Backend stores blobs.
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
	sealed := getBuf()
	var nonce [12]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		freeBuf(sealed)
		return 0, err
	}
	sealed = append(sealed, nonce[:]...)
	defer freeBuf(sealed)

	sealed = r.aead.Seal(sealed, nonce[:], data, []byte(name)) // want `\(deferput\)`
	if err := r.be.Save(name, sealed); err != nil {
		return 0, err
	}
	return len(sealed), nil
}
