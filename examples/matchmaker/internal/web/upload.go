package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/dewpond/dewpond"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/degrade"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/intake"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/photo"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
)

// MostPhoto bounds an upload.
const MostPhoto = 10 << 20

// Uploads are what uploads need.
type Uploads struct {
	Pool         *dewpond.BytePool // with a Budget: see NewUploadPool
	Wait         time.Duration     // for room in the Budget
	Pace         *intake.Pace      // of the bodies: those that do not come make room for who waits
	Connection   *intake.Share     // of the Budget, that one connection may have
	Address      *intake.Share     // and one peer address
	Photos       *photo.Registry
	Thumbnailers *photo.Thumbnailers
}

// NewUploadPool returns a pool whose blocks, idle or not, never have more bytes than budget
// together.
func NewUploadPool(budget int64) (*dewpond.BytePool, error) {
	return dewpond.NewBytePool(dewpond.BytePoolOptions{
		Name: "uploads", Budget: dewpond.MustBudget("uploads", budget),
		Classes: classes,
		Zero:    dewpond.ZeroNever, // only what was read into a block is looked at
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
	block, done, err := s.Uploads.take(r)
	switch {
	case errors.Is(err, errShare):
		return busy(w, err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return busy(w, "too many uploads at once: try again in a second")
	case err != nil:
		return err
	}
	defer done()
	image, err := readInto(block, r.Body)
	if err != nil {
		return err
	}
	visitOf(w).sent(len(image), nil)
	body := s.Bytes.Buffer()
	defer body.Release()
	err = s.thumbnail(r.Context(), body, image)
	if errors.Is(err, context.DeadlineExceeded) {
		return busy(w, "too many images at once: try again in a second")
	} else if err != nil {
		return err
	}
	driver, err := s.Uploads.Photos.Put(r.Context(), uid, body.Bytes())
	if err != nil {
		return err
	}
	return s.sendJSON(w, t, map[string]any{"uid": uid, "driver": driver, "bytes": body.Len()})
}

var errShare = errors.New("you have too many uploads at once: wait for the answers of the others")

// take waits for a block with room for a request's body, until done gives it back.
func (u *Uploads) take(r *http.Request) (block []byte, done func(), err error) {
	n := MostPhoto + 1
	if r.ContentLength >= 0 {
		n = int(r.ContentLength)
	}
	var (
		charge  = sizeOf(n)
		conn    = intake.ConnOf(r.Context())
		peer, _ = netip.ParseAddrPort(r.RemoteAddr)
		address = peer.Addr().Unmap()
	)
	if !u.Connection.Take(conn, charge) {
		return nil, nil, errShare
	}
	if !u.Address.Take(address, charge) {
		u.Connection.Give(conn, charge)
		return nil, nil, errShare
	}
	done = func() {
		if block != nil {
			u.Pool.Put(block)
		}
		u.Address.Give(address, charge)
		u.Connection.Give(conn, charge)
	}
	if block, err = u.Pool.TryGet(n); err != nil {
		over := u.Pace.Hurry()
		defer over()
		ctx, cancel := context.WithTimeout(r.Context(), u.Wait)
		defer cancel()
		block, err = u.Pool.GetContext(ctx, n)
	}
	if err != nil {
		done()
	}
	return block, done, err
}

// classes are the sizes of blocks. The last has room to see that a body is too long.
var classes = []int{64 << 10, 256 << 10, 1 << 20, 4 << 20, MostPhoto + 8<<10}

// LargestUpload is what the largest upload takes of the Budget.
const LargestUpload = MostPhoto + 8<<10

// sizeOf is what an upload of n bytes takes of the Budget.
func sizeOf(n int) int64 {
	i, _ := slices.BinarySearch(classes, n)
	return int64(classes[i])
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
			return nil, early(err)
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
	err := s.Uploads.Thumbnailers.Make(ctx, to, image, s.Uploads.Wait)
	switch e := err.(type) {
	case *photo.FormatError:
		return bad(http.StatusUnsupportedMediaType, "%v; send a JPEG as the body", e)
	case *photo.TooManyError, *photo.CostError:
		return bad(http.StatusRequestEntityTooLarge, "%v", e)
	}
	return err
}

func busy(w http.ResponseWriter, text string) error {
	w.Header().Set("Retry-After", "1")
	return bad(http.StatusServiceUnavailable, "%s", text)
}
