package repocheck

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// uncitable are the references that a reader of the repository cannot look up.
var uncitable = []struct {
	pattern *regexp.Regexp
	message string
}{
	// S3 alone is a store of objects
	{regexp.MustCompile(`\b(S[0-4]-[0-9]+|S[0124])\b`), "%s is a label that a reader cannot look up: cite an article by its title and address"},
	{regexp.MustCompile(`(?i)\bissues? #?[0-9]+\b`), "%s could be in any repository: give its address"},
	{regexp.MustCompile(`(\.\.|/\w+)/shared\b`), "%s is outside the repository"},
}

var (
	documentName = regexp.MustCompile(`[\w~:/.-]+\.md\b`)

	webAddress = regexp.MustCompile(`https?://[\w-]+(\.[\w-]+)*\.[a-z]{2,}[^\s()"'\x60<>]*`)
	// What ends before an address: a title in quotation marks, or the text of a link.
	titled = regexp.MustCompile(`(["”]\s+\(|\]\(|\]:\s+)$`)
	// A title in quotation marks, with the year in which it came out and no address.
	dated = regexp.MustCompile(`["“][^"“”]+["”],?\s*[^"“”]{0,40}\b(19|20)\d\d\)`)
)

// An unaddressed publication is one whose address nobody has found.
var unaddressed = regexp.MustCompile(`address\s+is\s+not\s+known`)

// What stands before such words, or at their end: a title in another script, and its translation.
var (
	foundByTitle = regexp.MustCompile(`“[^“”]+”,\s+in\s+English\s+“[^“”]+”[^“”]{0,40}$`)
	quoted       = regexp.MustCompile(`“[^“”]+”`)
	located      = regexp.MustCompile(`^,\s+in\s+English\s+“|^\s*\(https://`)
)

const ownAddress = "https://" + modulePath

// translated is what stands before the translation of a title whose address nobody has found: with both, a
// reader can look for it.
var translated = regexp.MustCompile(`in English\s+$`)

// folklore is what is told and in no publication that is known.
const folklore = "folklore"

// checkCitations requires that whatever the repository refers to is in it, or has a title
// and an address; or, where nobody has found the address, a title in its own language with its
// translation. It checks each literal that has a title, each string that says where something was published,
// the comments of Go files, and all of a file that people read.
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
		checkReferences(f.path, 1, strings.Split(string(f.data), "\n"), documents, report)
		if path.Ext(f.path) == ".md" {
			lines := make([]string, bytes.Count(f.data, []byte("\n"))+1)
			for line, text := range prose(f) {
				lines[line-1] = codeSpan.ReplaceAllString(text, "")
			}
			checkTitles(f.path, 1, strings.Join(lines, "\n"), report)
		}
	}
	for _, s := range r.sources {
		if !s.test {
			checkPublications(r, s, report)
			checkStrings(r, s, report)
		}
		for _, group := range s.syntax.Comments {
			var lines []string
			for _, comment := range group.List {
				for _, text := range strings.Split(comment.Text, "\n") {
					lines = append(lines, strings.TrimSpace(strings.TrimPrefix(text, "//")))
				}
			}
			first := r.line(group.Pos())
			checkReferences(s.path, first, lines, documents, report)
			if !ast.IsGenerated(s.syntax) {
				checkTitles(s.path, first, strings.Join(lines, "\n"), report)
			}
		}
	}
}

// checkTitles requires a title before each web address that is not ours, and an address
// behind each title that has its year.
func checkTitles(file string, first int, text string, report reporter) {
	line := func(offset int) int { return first + strings.Count(text[:offset], "\n") }
	for _, at := range webAddress.FindAllStringIndex(text, -1) {
		address := strings.TrimRight(text[at[0]:at[1]], ".,:;")
		if !strings.HasPrefix(address, ownAddress) && !strings.Contains(address, "example.com") && !titled.MatchString(text[:at[0]]) {
			report(file, line(at[0]), "%s has no title: write \"Title\" (%s)", address, address)
		}
	}
	for _, at := range dated.FindAllStringIndex(text, -1) {
		cited := text[at[0]:at[1]]
		if !translated.MatchString(text[:at[0]]) {
			report(file, line(at[0]), "%s has no address: write \"Title\" (https://...)", strings.Join(strings.Fields(cited), " "))
		}
	}
	checkUnaddressed(text, func(offset int, message string) { report(file, line(offset), "%s", message) })
}

// checkUnaddressed requires a title in its own language and its translation before words that say that
// nobody knows an address, and behind a title in another script its address or its translation: a reader
// who has neither cannot look for it.
func checkUnaddressed(text string, report func(offset int, message string)) {
	for _, at := range unaddressed.FindAllStringIndex(text, -1) {
		if !foundByTitle.MatchString(text[:at[0]]) {
			report(at[0], "what has no known address is cited by its title in its own language with a translation: “Title”, in English “Translation”, whose address is not known")
		}
	}
	for _, at := range quoted.FindAllStringIndex(text, -1) {
		if title := text[at[0]:at[1]]; isForeign(title) && !located.MatchString(text[at[1]:]) {
			report(at[0], fmt.Sprintf("%s has neither an address behind it, (https://...), nor a translation: , in English “...”", title))
		}
	}
}

// checkStrings checks the strings of a program: they are printed. What is added to something else says the
// rest of that, such as the title of a Publication.
func checkStrings(r *repository, s *source, report reporter) {
	added := map[ast.Node]bool{}
	for n := range ast.Preorder(s.syntax) {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if _, isText := n.X.(*ast.BasicLit); n.Op == token.ADD && !isText {
				added[n.Y] = true
			}
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind == token.STRING && err == nil && !added[n] {
				checkUnaddressed(text, func(_ int, message string) { report(s.path, r.line(n.Pos()), "%s", message) })
			}
		}
	}
}

// checkPublications requires a title and an address in each literal of a Publication. The
// address is on the web, or a document here.
func checkPublications(r *repository, s *source, report reporter) {
	check := func(literal *ast.CompositeLit) {
		fields := map[string]string{}
		for _, e := range literal.Elts {
			if e, ok := e.(*ast.KeyValueExpr); ok {
				if value, ok := e.Value.(*ast.BasicLit); ok {
					fields[fmt.Sprint(e.Key)], _ = strconv.Unquote(value.Value)
				}
			}
		}
		title, address := fields["Title"], fields["Address"]
		isKnown := title != "" && (strings.HasPrefix(address, "https://") || r.hasFile(address))
		isTranslated := address == "" && isForeign(title) && fields["Translation"] != ""
		if !isKnown && !isTranslated && title != folklore {
			report(s.path, r.line(literal.Pos()), "a Publication needs a Title and an Address, https:// or a document here: %q has %q; or without an address a title in its own language and its Translation", title, address)
		}
	}
	for n := range ast.Preorder(s.syntax) {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			continue
		}
		if isPublication(literal.Type) || cites(literal) {
			check(literal)
		}
		checkElements(literal, literal.Type, check)
	}
}

// checkElements checks the elements of a list or map of Publications, of pointers to them, or of lists of
// them: their literals may lack their type.
func checkElements(of *ast.CompositeLit, t ast.Expr, check func(*ast.CompositeLit)) {
	var element ast.Expr
	switch t := t.(type) {
	case *ast.ArrayType:
		element = t.Elt
	case *ast.MapType:
		element = t.Value
	default:
		return
	}
	if pointed, ok := element.(*ast.StarExpr); ok {
		element = pointed.X
	}
	for _, e := range of.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		literal, ok := e.(*ast.CompositeLit)
		if !ok || literal.Type != nil {
			continue
		}
		if isPublication(element) && !cites(literal) { // else the literal itself was looked at
			check(literal)
		}
		checkElements(literal, element, check)
	}
}

// cites reports whether a literal, of whatever type, has a title in another script, or a title and where it
// is or what it says in English.
func cites(literal *ast.CompositeLit) bool {
	fields := map[string]ast.Expr{}
	for _, e := range literal.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			fields[fmt.Sprint(pair.Key)] = pair.Value
		}
	}
	title, ok := fields["Title"].(*ast.BasicLit)
	if !ok {
		return false
	}
	text, _ := strconv.Unquote(title.Value)
	return isForeign(text) || fields["Address"] != nil || fields["Translation"] != nil
}

// isForeign reports whether a title has letters of another script than the Latin. The sign of a unit, as in
// µs, is of none.
func isForeign(title string) bool {
	return strings.ContainsFunc(title, func(c rune) bool {
		return unicode.IsLetter(c) && !unicode.Is(unicode.Latin, c) && !unicode.Is(unicode.Greek, c) && !unicode.Is(unicode.Common, c)
	})
}

func isPublication(t ast.Expr) bool {
	if s, ok := t.(*ast.SelectorExpr); ok {
		t = s.Sel
	}
	name, ok := t.(*ast.Ident)
	return ok && name.Name == "Publication"
}

// checkReferences finds what a reader cannot look up.
func checkReferences(file string, first int, lines []string, documents map[string]bool, report reporter) {
	for i, text := range lines {
		for _, u := range uncitable {
			if found := u.pattern.FindString(text); found != "" {
				report(file, first+i, u.message, found)
			}
		}
		for _, at := range documentName.FindAllStringIndex(text, -1) {
			name := text[at[0]:at[1]]
			isLink := strings.HasSuffix(text[:at[0]], "](") // checkDocuments follows links
			if !isLink && !strings.Contains(name, "://") && !documents[path.Base(name)] {
				report(file, first+i, "%s is not in the repository", name)
			}
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
