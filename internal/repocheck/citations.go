package repocheck

import (
	"path"
	"regexp"
	"strings"
)

// uncitable are the references that a reader of the repository cannot look up.
var uncitable = []struct {
	pattern *regexp.Regexp
	message string
}{
	// S3 alone is a store of objects
	{regexp.MustCompile(`\b(S[0-4]-[0-9]+|S[0124])\b`), "%s is a label that a reader cannot look up: cite an article by its title and address"},
	{regexp.MustCompile(`(?i)\bissues? #?[0-9]+\b`), "%s could be in any repository: give its address"},
	{regexp.MustCompile(`(\.\./|/work/)shared\b`), "%s is outside the repository"},
}

var (
	documentName = regexp.MustCompile(`[\w~:/.-]+\.md\b`)
	anArticle    = regexp.MustCompile(`(?i)\barticles?\b`)
)

// checkCitations requires that whatever the repository refers to is in it, or has an
// address. It checks the comments of Go files, and all of a file that people read.
func checkCitations(r *repository, report reporter) {
	documents := map[string]bool{}
	for _, f := range r.files {
		if path.Ext(f.path) == ".md" {
			documents[path.Base(f.path)] = true
		}
	}
	for _, f := range r.files {
		if !isProse(f.path) {
			continue
		}
		line := 0
		for text := range strings.Lines(string(f.data)) {
			line++
			checkCitation(f.path, line, text, documents, report)
		}
		if at := anArticle.Find(f.data); at != nil && !strings.Contains(string(f.data), "://") {
			report(f.path, 0, "mentions an article without its address")
		}
	}
	for _, s := range r.sources {
		article, address := 0, false
		for _, group := range s.syntax.Comments {
			for _, comment := range group.List {
				first := r.line(comment.Pos())
				for i, text := range strings.Split(comment.Text, "\n") {
					checkCitation(s.path, first+i, text, documents, report)
					address = address || strings.Contains(text, "://")
					if article == 0 && anArticle.MatchString(text) {
						article = first + i
					}
				}
			}
		}
		if article != 0 && !address {
			report(s.path, article, "mentions an article without its address")
		}
	}
}

func checkCitation(file string, line int, text string, documents map[string]bool, report reporter) {
	for _, u := range uncitable {
		if found := u.pattern.FindString(text); found != "" {
			report(file, line, u.message, found)
		}
	}
	for _, at := range documentName.FindAllStringIndex(text, -1) {
		name := text[at[0]:at[1]]
		isLink := strings.HasSuffix(text[:at[0]], "](") // checkDocuments follows links
		if !isLink && !strings.Contains(name, "://") && !documents[path.Base(name)] {
			report(file, line, "%s is not in the repository", name)
		}
	}
}

// isProse reports whether people read all of a file, as they read a document or a
// script. The data of a test is not prose.
func isProse(name string) bool {
	if strings.Contains("/"+name, "/testdata/") || path.Base(name) == "LICENSE" {
		return false
	}
	switch path.Ext(name) {
	case ".md", ".yml", ".yaml", ".sh", "":
		return true
	}
	return false
}
