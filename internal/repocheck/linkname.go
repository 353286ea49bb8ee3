package repocheck

import "strings"

func checkLinkname(r *repository, report reporter) {
	for _, s := range r.sources {
		for _, group := range s.syntax.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:linkname") && !s.isAt(linknameAddresses) {
					report(s.path, r.line(c.Pos()), "go:linkname outside %s", linknameAddresses[0])
				}
			}
		}
	}
}
