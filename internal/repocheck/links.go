package repocheck

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// checkLinks requires that a relative link in a document leads somewhere. A module zip lacks the nested
// modules that documents link to, so there it checks nothing.
func checkLinks(r *repository, report reporter) {
	documents := map[string]*file{}
	places := map[string]bool{}
	for _, dir := range r.dirs {
		places[dir] = true
	}
	for _, f := range r.files {
		places[f.path] = true
		if path.Ext(f.path) == ".md" && !ignoredByGo(f.path) {
			documents[f.path] = f
		}
	}
	if !places["go.work"] {
		return
	}
	for _, f := range documents {
		for _, l := range links(f) {
			target := path.Join(path.Dir(f.path), l.path)
			if l.path == "" {
				target = f.path
			}
			switch to := documents[target]; {
			case !places[target]:
				report(f.path, l.line, "the link to %s leads nowhere", l.path)
			case to == nil && lineOfCode.MatchString(l.anchor): // a test of the document follows it
			case l.anchor != "" && (to == nil || !slices.Contains(anchors(to), l.anchor)):
				report(f.path, l.line, "%s has no heading #%s", target, l.anchor)
			}
		}
	}
}

// A link leads to a file or directory relative to its document, or to a heading.
type link struct {
	path, anchor string
	line         int
}

var (
	markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	htmlLink     = regexp.MustCompile(`(?:src|srcset|href)="([^"\s]+)"`)
	lineOfCode   = regexp.MustCompile(`^L[1-9][0-9]*$`)
	codeSpan     = regexp.MustCompile("`[^`]*`")
)

// links returns a document's relative links.
func links(f *file) []link {
	var all []link
	for line, text := range prose(f) {
		text = codeSpan.ReplaceAllString(text, "")
		for _, m := range append(markdownLink.FindAllStringSubmatch(text, -1), htmlLink.FindAllStringSubmatch(text, -1)...) {
			if strings.Contains(m[1], ":") {
				continue // a scheme: a page of another site
			}
			target, anchor, _ := strings.Cut(m[1], "#")
			all = append(all, link{target, anchor, line})
		}
	}
	return all
}

// prose yields a document's lines, by number, except those between fences.
func prose(f *file) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		fenced := false
		for i, text := range strings.Split(string(f.data), "\n") {
			if strings.HasPrefix(strings.TrimSpace(text), "```") {
				fenced = !fenced
				continue
			}
			if !fenced && !yield(i+1, text) {
				return
			}
		}
	}
}

// anchors returns the names of a document's headings in links.
func anchors(f *file) []string {
	var all []string
	for _, text := range prose(f) {
		if heading := strings.TrimLeft(text, "#"); heading != text && strings.HasPrefix(heading, " ") {
			all = append(all, slug(heading))
		}
	}
	return all
}

func slug(heading string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case unicode.IsLetter(c) || unicode.IsDigit(c) || c == '-' || c == '_':
			return unicode.ToLower(c)
		}
		return -1
	}, strings.TrimSpace(heading))
}
