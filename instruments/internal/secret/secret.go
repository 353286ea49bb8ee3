// Package secret keeps what lets somebody in out of what dewload prints and writes: a report is
// handed around. Where a text shows by its form that a part of it is secret, that part is replaced,
// and what a scenario gives as secret is replaced wherever it stands.
package secret

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/dewpond/dewpond/instruments/kit/plain"
)

// Mask stands for a secret.
const Mask = "…"

// known are the secrets of this process, the longest first, and the names of its secret headers.
// They are of the process and not of a run, because an error can be printed after its run.
var known struct {
	sync.RWMutex
	values  []string
	headers map[string]bool
}

// shortest is how long a value is that is replaced wherever it stands: a shorter one would be found
// in words.
const shortest = 4

// Know makes values secret. Texts with names in them are none.
func Know(values ...string) {
	known.Lock()
	defer known.Unlock()
	for _, v := range values {
		if len(v) >= shortest && !strings.Contains(v, "${") && !slices.Contains(known.values, v) {
			known.values = append(known.values, v)
		}
	}
	slices.SortStableFunc(known.values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
}

// Headers makes the values of these headers secret, beside those that always are.
func Headers(names ...string) {
	known.Lock()
	defer known.Unlock()
	if known.headers == nil {
		known.headers = map[string]bool{}
	}
	for _, name := range names {
		known.headers[strings.ToLower(name)] = true
	}
}

// always are headers whose values are secret.
var always = []string{"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"}

// isHeader reports whether a header's value is secret.
func isHeader(name string) bool {
	name = strings.ToLower(name)
	known.RLock()
	defer known.RUnlock()
	return slices.Contains(always, name) || known.headers[name] || IsName(name)
}

// parts and ends are what a name has anywhere, and at its end, if its value is secret.
var (
	parts = []string{"token", "secret", "passw", "passphrase", "apikey", "signature", "credential"}
	ends  = []string{"key", "auth", "authorization", "pwd", "pass", "sig", "jwt", "sid", "sessionid"}
)

// IsName reports whether what goes by this name, in a query or a body, is secret.
func IsName(name string) bool {
	if unescaped, err := url.QueryUnescape(name); err == nil {
		name = unescaped
	}
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) }) ||
		slices.ContainsFunc(ends, func(e string) bool { return strings.HasSuffix(name, e) })
}

// KnowHeader makes a header's value secret if the header is.
func KnowHeader(name, value string) { Know(OfHeader(name, value)...) }

// OfHeader returns what of a header's value is secret; nothing, if the header is not.
func OfHeader(name, value string) []string {
	if !isHeader(name) {
		return nil
	}
	out := []string{value}
	if _, credentials, ok := strings.Cut(value, " "); ok { // Bearer TOKEN, Basic BASE64
		out = append(out, strings.TrimSpace(credentials))
	}
	if strings.Contains(strings.ToLower(name), "cookie") {
		for _, one := range strings.Split(value, ";") {
			if _, v, ok := strings.Cut(one, "="); ok {
				out = append(out, strings.TrimSpace(v))
			}
		}
	}
	return out
}

// Without returns a text without these values, which are of one call alone and not kept.
func Without(s string, values ...string) string {
	for _, v := range values {
		if len(v) >= shortest {
			s = strings.ReplaceAll(s, v, Mask)
		}
	}
	return s
}

// KnowURL makes a URL's password secret, and the values of its query that are.
func KnowURL(raw string) {
	if user, _, ok := strings.Cut(raw, "@"); ok && !strings.Contains(raw, "://") { // NATS takes a host alone
		Know(user)
		return
	}
	u, err := url.Parse(raw)
	if err != nil {
		return
	}
	if u.User != nil {
		password, has := u.User.Password()
		Know(password, url.QueryEscape(password), url.PathEscape(password))
		if !has { // a token, as NATS takes it
			Know(u.User.Username())
		}
	}
	for name, values := range u.Query() {
		if IsName(name) {
			for _, v := range values {
				Know(v, url.QueryEscape(v), url.PathEscape(v))
			}
		}
	}
}

var (
	// user is what stands before the host of a URL. It may have @ in it.
	user = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s"'?#]+@`)
	// pair is NAME=VALUE of a query or a form.
	pair = regexp.MustCompile(`(^|[?&;\s"'{(])([^=&;?\s"'#{(]+)=([^&\s"'#]+)`)
	// member is "NAME": VALUE of JSON.
	member = regexp.MustCompile(`("([^"\\/?&=:\s]+)"\s*:\s*)("(?:[^"\\]|\\.)*"?|[^\s,}\]"{\[]+)`)
	// header is NAME: VALUE to the end of its line.
	header = regexp.MustCompile(`([A-Za-z0-9_-]+)(["']?\s*:\s*)([^\n]+)`)
	// scalar is NAME: VALUE of YAML, and VALUE is neither a list, a mapping, a pointer nor a name.
	scalar = regexp.MustCompile(`([A-Za-z0-9_.-]+)(\s*:\s+)([^\s,}\]/{\[$][^,}\]]*)`)
)

// Text returns a text without the secrets in it.
func Text(s string) string {
	known.RLock()
	for _, v := range known.values {
		s = strings.ReplaceAll(s, v, Mask)
	}
	known.RUnlock()
	s = user.ReplaceAllString(s, "${1}"+Mask+"@")
	s = replace(pair, s, func(m []string) string { return m[1] + m[2] + "=" + Mask }, func(m []string) bool { return IsName(m[2]) })
	s = replace(member, s, func(m []string) string { return m[1] + `"` + Mask + `"` }, func(m []string) bool { return IsName(m[2]) })
	return replace(header, s, func(m []string) string { return m[1] + m[2] + Mask }, func(m []string) bool { return certain(m[1]) })
}

// certain reports whether it can only be a header, and not another word before a colon, that has
// this name.
func certain(name string) bool {
	name = strings.ToLower(name)
	known.RLock()
	defer known.RUnlock()
	return slices.Contains(always, name) || known.headers[name]
}

// replace replaces the matches that are secret.
func replace(by *regexp.Regexp, s string, with func([]string) string, is func([]string) bool) string {
	return by.ReplaceAllStringFunc(s, func(found string) string {
		if m := by.FindStringSubmatch(found); m != nil && is(m) {
			return with(m)
		}
		return found
	})
}

// Excerpt is Text for a line of a scenario file.
func Excerpt(s string) string {
	return Text(replace(scalar, s, func(m []string) string { return m[1] + m[2] + Mask }, func(m []string) bool { return IsName(m[1]) }))
}

// Shown is Text as a terminal may show it.
func Shown(s string) string { return Text(plain.Text(s)) }

// whole are flags whose values are secret.
var whole = []string{"--token"}

// Args returns the arguments of a command without the secrets in them.
func Args(args []string) []string {
	out := slices.Clone(args)
	flag := ""
	for i, a := range out {
		name, value, joined := strings.Cut(a, "=")
		if flag != "" || !joined || !strings.HasPrefix(a, "--") {
			name, value, joined = flag, a, false
		}
		masked := argument(name, value)
		if joined {
			masked = name + "=" + masked
		}
		out[i] = masked
		flag = ""
		if !joined && strings.HasPrefix(a, "--") {
			flag = a
		}
	}
	return out
}

// argument returns the value of a flag without its secrets.
func argument(flag, value string) string {
	switch {
	case slices.Contains(whole, flag):
		return Mask
	case flag == "--header":
		if name, _, ok := strings.Cut(value, ":"); ok && isHeader(strings.TrimSpace(name)) {
			return name + ": " + Mask
		}
	case flag == "--nats" && !strings.Contains(value, "://") && strings.Contains(value, "@"):
		return Mask + value[strings.LastIndex(value, "@"):]
	}
	return Text(plain.Line(value))
}
