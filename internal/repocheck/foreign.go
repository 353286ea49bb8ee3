package repocheck

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// author is the only name that a copyright line may have.
const author = "The dewpond Authors"

// Foreign code comes through go.mod, with its version and its licence, or not at all.
// It is recognized by its place, by notices of its authors, and by missing source.
var (
	foreignDirs = []string{"vendor", "third_party", "thirdparty", "node_modules", "bower_components"}

	// A copyright notice: the word or the sign at the start of a line or before a year,
	// so that prose about copyright is not one.
	copyrightNotice = regexp.MustCompile(`(?im)^\W*((?-i:Copyright|COPYRIGHT)\s+(?-i:[A-Z(])|©).*$|^.*(copyright|©|\(c\))[\s:,]*(\(c\)|©)?[\s:,]*(19|20)\d\d.*$|^.*spdx-filecopyrighttext:.*$`)

	// A licence other than ours, by its first words or its SPDX name.
	foreignLicence = regexp.MustCompile(`(?i)permission is hereby granted, free of charge|redistribution and use in source and binary forms|` +
		`mozilla public license|gnu (lesser |affero )?general public license|use of this source code is governed by|` +
		`spdx-license-identifier:\s*(?:[b-z0-9]|a[^p])`)

	copiedFrom = regexp.MustCompile(`(?i)\bcode (copied|adapted|taken|ported|borrowed|derived) from\b|` +
		`\b(copied|adapted|ported|forked|vendored) (verbatim )?from (https?://|[\w-]+\.(com|org|io|net|dev|in)/|the go (project|source|standard library))`)

	// Files whose source is elsewhere.
	binaries = []string{".a", ".bin", ".dll", ".dylib", ".exe", ".jar", ".o", ".so", ".syso", ".wasm"}
	// Languages that would escape the rules for Go files.
	otherLanguages = []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".m", ".s", ".S"}
	// Files that bundlers and minifiers write.
	web = []string{".css", ".js", ".mjs"}
)

// minified is the length from which a line of script or style was not written by a
// person.
const minified = 500

func isForeignDir(dir string) bool { return slices.Contains(foreignDirs, path.Base(dir)) }

func checkForeign(r *repository, report reporter) {
	for _, dir := range r.dirs {
		if isForeignDir(dir) {
			report(dir, 0, "foreign code: it must come through go.mod")
		}
	}
	for _, f := range r.files {
		ext := path.Ext(f.path)
		switch {
		case path.Base(f.path) == ".gitmodules":
			report(f.path, 0, "foreign repositories: their code must come through go.mod")
		case slices.Contains(binaries, ext):
			report(f.path, 0, "a binary has no source here")
		case ext == ".s" && slices.Contains(assemblyAddresses, path.Dir(f.path)):
		case slices.Contains(otherLanguages, ext):
			report(f.path, 0, "%s: all code here must be Go, which the rules can check", ext)
		case slices.Contains(web, ext) && isMinified(f):
			report(f.path, 0, "minified: people cannot read it, and did not write it here")
		}
		if f.maySpeakOfOthers() || bytes.IndexByte(f.data, 0) >= 0 {
			continue
		}
		for _, at := range copyrightNotice.FindAllIndex(f.data, -1) {
			if notice := string(f.data[at[0]:at[1]]); !strings.Contains(notice, author) {
				report(f.path, f.lineAt(at[0]), "%q is not a notice of %s", strings.TrimSpace(notice), author)
			}
		}
		for _, marker := range []*regexp.Regexp{foreignLicence, copiedFrom} {
			for _, at := range marker.FindAllIndex(f.data, -1) {
				report(f.path, f.lineAt(at[0]), "%q: foreign code must come through go.mod", f.data[at[0]:at[1]])
			}
		}
	}
}

func isMinified(f *file) bool {
	if strings.Contains(path.Base(f.path), ".min.") {
		return true
	}
	for line := range bytes.Lines(f.data) {
		if len(line) > minified {
			return true
		}
	}
	return false
}

// maySpeakOfOthers exempts the licence's text, the notices of what a binary is built
// with, and this package, whose tests quote what it looks for.
func (f *file) maySpeakOfOthers() bool {
	return f.path == "LICENSE" || strings.HasPrefix(f.path, "THIRD_PARTY_NOTICES") ||
		path.Dir(f.path) == "internal/repocheck"
}

// lineAt returns the number of the first line that is not empty at or after an offset:
// a pattern's leading space may begin on an empty line.
func (f *file) lineAt(offset int) int {
	rest := f.data[offset:]
	offset += len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
	return 1 + bytes.Count(f.data[:offset], []byte("\n"))
}
