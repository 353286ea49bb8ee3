package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/dewpond/dewpond"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/degrade"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/photo"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
)

// MostPhoto bounds an upload.
const MostPhoto = 10 << 20

// Uploads are what uploads need.
type Uploads struct {
	Pool         *dewpond.BytePool // with a Budget: see NewUploadPool
	Wait         time.Duration     // for room in the Budget
	Photos       *photo.Registry
	Thumbnailers *photo.Thumbnailers
}

// NewUploadPool returns a pool whose blocks, idle or not, never have more bytes than budget
// together.
func NewUploadPool(budget int64) (*dewpond.BytePool, error) {
	return dewpond.NewBytePool(dewpond.BytePoolOptions{
		Name: "uploads", Budget: dewpond.MustBudget("uploads", budget),
		Classes: []int{64 << 10, 256 << 10, 1 << 20, 4 << 20, MostPhoto + 8<<10}, // the last has room to see that a body is too long
		Zero:    dewpond.ZeroNever,                                               // only what was read into a block is looked at
	})
}

// upload takes a photo, makes a thumbnail, and stores it by the current driver.
func (s *Site) upload(w http.ResponseWriter, r *http.Request, t *service.Times) error {
	uid, err := uidOf(r.PathValue("uid"), "/api/v1/photos/7")
	if err != nil {
		return err
	}
	visitOf(w).by(uid)
	switch {
	case s.Service.Degrade.Without(degrade.Uploads):
		return busy(w, "memory is scarce: upload later")
	case r.ContentLength > MostPhoto:
		return &http.MaxBytesError{Limit: MostPhoto}
	case r.ContentLength == 0:
		return bad(http.StatusUnsupportedMediaType, "there is no image: send a JPEG as the body")
	}
	if _, err := s.Service.Profile(r.Context(), uid, t); err != nil {
		return err
	}
	block, err := s.takeBlock(r)
	if errors.Is(err, context.DeadlineExceeded) {
		return busy(w, "too many uploads at once: try again in a second")
	} else if err != nil {
		return err
	}
	defer s.Uploads.Pool.Put(block)
	image, err := readInto(block, r.Body)
	if err != nil {
		return err
	}
	visitOf(w).sent(len(image), nil)
	body := s.Bytes.Buffer()
	defer body.Release()
	if err := s.thumbnail(r.Context(), body, image); err != nil {
		return err
	}
	driver, err := s.Uploads.Photos.Put(r.Context(), uid, body.Bytes())
	if err != nil {
		return err
	}
	return s.sendJSON(w, t, map[string]any{"uid": uid, "driver": driver, "bytes": body.Len()})
}

// takeBlock waits for a block with room for a request's body.
func (s *Site) takeBlock(r *http.Request) ([]byte, error) {
	n := MostPhoto + 1
	if r.ContentLength >= 0 {
		n = int(r.ContentLength)
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.Uploads.Wait)
	defer cancel()
	return s.Uploads.Pool.GetContext(ctx, n)
}

// readInto reads a body, whose end must come before the block's, or with it.
func readInto(block []byte, body io.Reader) ([]byte, error) {
	n := 0
	for n < len(block) {
		more, err := body.Read(block[n:])
		n += more
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, bad(http.StatusBadRequest, "the body ends early: %v", err)
		}
	}
	switch {
	case n == 0:
		return nil, bad(http.StatusUnsupportedMediaType, "there is no image: send a JPEG as the body")
	case n > MostPhoto:
		return nil, &http.MaxBytesError{Limit: MostPhoto}
	}
	return block[:n], nil
}

func (s *Site) thumbnail(ctx context.Context, to io.Writer, image []byte) error {
	err := photo.Check(image)
	if err == nil {
		var th *photo.Thumbnailer
		if th, err = s.Uploads.Thumbnailers.Get(ctx); err != nil {
			return err
		}
		defer s.Uploads.Thumbnailers.Put(th)
		err = th.Make(to, image)
	}
	switch e := err.(type) {
	case *photo.FormatError:
		return bad(http.StatusUnsupportedMediaType, "%v; send a JPEG as the body", e)
	case *photo.TooManyError:
		return bad(http.StatusRequestEntityTooLarge, "%v", e)
	}
	return err
}

func busy(w http.ResponseWriter, text string) error {
	w.Header().Set("Retry-After", "1")
	return bad(http.StatusServiceUnavailable, "%s", text)
}
