package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/plain"
)

// mostPage is how long a page may be.
const mostPage = 64 << 20

// A Source is where a program serves its metrics.
type Source struct {
	URL   string        // as it is shown, without a name, a password and a query
	user  *url.Userinfo // these; nil: none
	pages []string      // to try; once one has dewpond's metrics, that one alone
}

// NewSource returns the Source at an address, which may lack the scheme. Without a path
// it is /debug/vars or /metrics, whichever has dewpond's metrics.
func NewSource(address string) (*Source, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s is no address: give one such as http://localhost:8080, or with the path of the metrics", plain.Address(address))
	}
	s := &Source{user: u.User}
	u.User = nil // so that no error has it
	s.pages = []string{u.String()}
	if u.Path == "" || u.Path == "/" {
		s.pages = []string{u.JoinPath("debug/vars").String(), u.JoinPath("metrics").String()}
	}
	s.URL = shown(u.String())
	return s, nil
}

// shown returns an address without its query, which may have a token.
func shown(page string) string {
	before, _, _ := strings.Cut(page, "?")
	return before
}

// A MissingError says that a program answers, but without dewpond's metrics.
type MissingError struct{ URL string }

func (e *MissingError) Error() string {
	return e.URL + ` serves no metrics of dewpond. Add one of these lines to the program's main:

    dewexpvar.Publish()                                  // import "github.com/dewpond/dewpond/contrib/dewexpvar": at /debug/vars
    prometheus.MustRegister(dewprom.NewCollector())      // import "github.com/dewpond/dewpond/contrib/dewprom": where Prometheus scrapes`
}

// Fetch asks the program.
func (s *Source) Fetch(ctx context.Context) (*Snapshot, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s: no answer in %v", s.URL, patience))
	defer cancel()
	snapshot, err := s.fetch(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return snapshot, err
}

// patience is how long an answer may take before the target counts as gone.
const patience = 5 * time.Second

func (s *Source) fetch(ctx context.Context) (*Snapshot, error) {
	var last error
	missing := false
	for _, page := range s.pages {
		snapshot, err := fetch(ctx, page, s.user)
		if err == nil {
			s.pages = []string{page}
			return snapshot, nil
		}
		missing = missing || errors.Is(err, errNoPools)
		last = err
	}
	if missing {
		return nil, &MissingError{s.URL}
	}
	return nil, last
}

func fetch(ctx context.Context, page string, user *url.Userinfo) (*Snapshot, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return nil, err
	}
	if user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	response, err := http.DefaultClient.Do(request)
	if failed := new(url.Error); errors.As(err, &failed) { // it has the whole address
		return nil, fmt.Errorf("asking %s: %w", shown(page), failed.Err)
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return nil, errNoPools
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %q", shown(page), response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, mostPage))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", shown(page), err)
	}
	snapshot, err := parse(body)
	if err != nil && !errors.Is(err, errNoPools) {
		err = fmt.Errorf("%s: %w", shown(page), err)
	}
	return snapshot, err
}
