// Package photo has the users' photos: those that every user begins with, those that are
// uploaded, where they are kept, and the thumbnailers.
package photo

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
)

// A Photo is a JPEG with its ETag.
type Photo struct {
	JPEG []byte
	ETag string
}

// New returns a photo with the ETag of its contents.
func New(b []byte) Photo {
	return Photo{b, fmt.Sprintf(`"%08x-%x"`, crc32.ChecksumIEEE(b), len(b))}
}

// stocked is how many photos are made: a user has one of them.
const stocked = 32

// medianBytes and sigma are of the lognormal sizes.
const (
	medianBytes = 186_000
	sigma       = 0.35
)

// A Stock is the photos that users begin with: 480 pixels wide, of noise, and as high as it takes
// for their sizes to be lognormal.
type Stock struct{ photos [stocked]Photo }

// Make makes them, the same every time, on all processors, and once in a process.
var Make = sync.OnceValues(made)

func made() (*Stock, error) {
	s := &Stock{}
	_, row, err := noise(0, 64)
	if err != nil {
		return nil, err
	}
	var (
		making sync.WaitGroup
		mu     sync.Mutex // held to keep an error
		turns  = make(chan struct{}, runtime.GOMAXPROCS(0))
	)
	for i := range s.photos {
		turns <- struct{}{}
		making.Go(func() {
			defer func() { <-turns }()
			z := math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/stocked-1) // the i-th of stocked quantiles
			height := int(medianBytes * math.Exp(sigma*z) / row)
			b, _, failed := noise(uint64(i), height)
			if failed != nil {
				mu.Lock()
				err = failed
				mu.Unlock()
			}
			s.photos[i] = New(b)
		})
	}
	making.Wait()
	return s, err
}

// Of is the photo that a user begins with.
func (s *Stock) Of(uid int64) Photo {
	return s.photos[uint64(uid)*11400714819323198485>>40%stocked]
}

// noise makes a JPEG of that height, and returns the bytes of each of its rows too.
func noise(seed uint64, height int) (b []byte, row float64, err error) {
	const width, quality = 480, 88
	r := rand.New(rand.NewPCG(seed, 480))
	m := image.NewGray(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = byte(128 + r.NormFloat64()*28)
	}
	var to bytes.Buffer
	if err := jpeg.Encode(&to, m, &jpeg.Options{Quality: quality}); err != nil {
		return nil, 0, err
	}
	return to.Bytes(), float64(to.Len()) / float64(height), nil
}
