package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/plain"
)

// mostAnswer is how large a profile may be that a program sends.
const mostAnswer = 128 << 20

// patience is how long an answer may take, besides the time that it was asked to take.
const patience = 20 * time.Second

// A Program is where a running program serves net/http/pprof.
type Program struct {
	URL string // of /debug/pprof, without a slash at its end
}

// At returns the Program at an address: that of the program, of its /debug/pprof, or of one of the
// profiles there.
func At(address string) (*Program, error) {
	u, err := Address(address, "http://localhost:6060/debug/pprof")
	if err != nil {
		return nil, err
	}
	switch trimmed := strings.TrimRight(u.Path, "/"); {
	case trimmed == "":
		u.Path = "/debug/pprof"
	case path.Base(path.Dir(trimmed)) == "pprof":
		u.Path = path.Dir(trimmed)
	default:
		u.Path = trimmed
	}
	return &Program{strings.TrimRight(u.String(), "/")}, nil
}

// Address reads the address of a program, without the query and the fragment. An error has an example of an
// address, and nothing of this one that may be a secret.
func Address(address, example string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	// A password with a slash that is not escaped ends the host, and is in the path.
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Contains(u.Path+u.Fragment, "@"):
		return nil, fmt.Errorf("%s is no address: give one such as %s", plain.Address(address), example)
	case !ours(u.RawQuery):
		return nil, errors.New("the URL has a query, which dewpond advise does not send: give the address without what follows the question mark")
	}
	u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", false, "", ""
	return u, nil
}

// ours reports whether a query has only parameters of net/http/pprof, for which dewpond advise has values of its own.
func ours(query string) bool {
	values, err := url.ParseQuery(query)
	for name := range values {
		if !slices.Contains([]string{"debug", "gc", "seconds"}, name) {
			return false
		}
	}
	return err == nil
}

// root returns the address without the path, where a program may serve its metrics.
func (p *Program) root() string {
	u, err := url.Parse(p.URL)
	if err != nil {
		return p.URL
	}
	u.Path = ""
	return u.String()
}

// Shown returns the address without a password, and without the user's name, which may be a token.
func (p *Program) Shown() string {
	u, err := url.Parse(p.URL)
	if err != nil {
		return "the URL"
	}
	if u.User != nil {
		u.User = url.User("xxxxx")
	}
	return u.String()
}

// An AnswerError says that a program has answered with something else than a profile.
type AnswerError struct {
	URL, Text string
}

func (e *AnswerError) Error() string { return e.URL + ": " + e.Text }

// Get asks for a profile, such as "heap?debug=1", which the program may take so long for.
func (p *Program) Get(ctx context.Context, profile string, takes time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, takes+patience, fmt.Errorf("no answer in %v", takes+patience))
	defer cancel()
	data, err := p.get(ctx, p.URL+"/"+profile, profile)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil && !errors.As(err, new(*AnswerError)) {
		err = fmt.Errorf("asking %s for %s: %w", p.Shown(), profile, err)
	}
	return data, err
}

// Page asks the program for another page of its, such as "/metrics".
func (p *Program) Page(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return p.get(ctx, p.root()+path, path)
}

func (p *Program) get(ctx context.Context, address, profile string) ([]byte, error) {
	var response *http.Response
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err == nil {
		response, err = http.DefaultClient.Do(request)
	}
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err // which names the address, and its password
		}
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > mostAnswer:
		return nil, p.answers("its %s is larger than %d MB: save it to a file, and give that", profile, mostAnswer>>20)
	case response.StatusCode == http.StatusNotFound:
		return nil, p.answers("the answer is 404: there is no net/http/pprof there. Import it in the program's main, as in import _ \"net/http/pprof\", and give the address that serves it, such as http://localhost:6060/debug/pprof")
	case response.StatusCode == http.StatusUnauthorized, response.StatusCode == http.StatusForbidden:
		return nil, p.answers("the answer is %q: give an address that may read it, or save the profiles to files and give those", response.Status)
	case response.StatusCode != http.StatusOK:
		return nil, p.answers("the answer to %s is %q: %.200s", profile, response.Status, plain.Line(strings.TrimSpace(string(body))))
	case strings.HasPrefix(response.Header.Get("Content-Type"), "text/html"):
		return nil, p.answers("the answer to %s is a page of HTML and no profile: give the address of net/http/pprof, such as http://localhost:6060/debug/pprof", profile)
	}
	return body, nil
}

func (p *Program) answers(format string, a ...any) error {
	return &AnswerError{p.Shown(), fmt.Sprintf(format, a...)}
}
