package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// A plan is one release, prepared in a clone.
type plan struct {
	here           repository
	clone          repository
	bundles        string // a directory for their zips
	base           string // the commit that is released
	at             time.Time
	version        string
	released, kept []*unit
}

func newPlan(dir, version string) (*plan, error) {
	if semver.Canonical(version) != version || semver.Compare(version, unreleased) <= 0 {
		return nil, fmt.Errorf("%q is not a version to release: want vMAJOR.MINOR.PATCH, perhaps with -PRERELEASE", version)
	}
	top, err := repository(dir).git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	p := &plan{here: repository(filepath.FromSlash(top)), version: version}
	if p.base, err = p.here.git("rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	when, err := p.here.git("log", "-1", "--format=%cI", p.base)
	if err != nil {
		return nil, err
	}
	if p.at, err = time.Parse(time.RFC3339, when); err != nil {
		return nil, err
	}
	p.at = p.at.UTC()
	if p.clone, err = p.here.clone(p.base); err != nil {
		return nil, err
	}
	if err := p.read(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *plan) read() error {
	units, err := readUnits(string(p.clone))
	if err != nil {
		return err
	}
	if p.released, p.kept, err = order(units); err != nil {
		return err
	}
	for _, u := range p.released {
		if err := module.Check(u.path, p.version); err != nil {
			return err // such as v2 if the paths do not end in /v2
		}
		if found, err := p.here.git("tag", "--list", u.tag(p.version)); err != nil || found != "" {
			return errors.Join(err, fmt.Errorf("tag %s exists already: a version is released once", u.tag(p.version)))
		}
	}
	p.bundles, err = os.MkdirTemp("", "bundles")
	return err
}

func (p *plan) close() {
	os.RemoveAll(string(p.clone))
	os.RemoveAll(p.bundles)
}

func (p *plan) run(out io.Writer, proxy string, write bool) error {
	branch := ""
	if write {
		var err error
		if branch, err = p.ready(); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s of commit %.12s, in this order:\n\n", p.version, p.base)
	tree, err := p.prepare(out, proxy)
	if err != nil {
		return err
	}
	for _, u := range p.kept {
		fmt.Fprintf(out, "  not released: %s, which is below internal/ and which no released module requires\n", u.path)
	}
	if proxy != "" {
		fmt.Fprintf(out, "\n%s has them.\n", proxy)
	}
	if !write {
		fmt.Fprintf(out, "\nThis was a rehearsal: nothing has changed here. -write makes the commits and tags.\n")
		return nil
	}
	if err := p.write(tree); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nTagged. Nothing is pushed yet; push in this order:\n\n  git push origin %s\n", branch)
	for _, u := range p.released {
		fmt.Fprintf(out, "  git push origin %s\n", u.tag(p.version))
	}
	return nil
}

// ready returns an error if the release cannot be written here, or else its branch.
func (p *plan) ready() (branch string, err error) {
	if changes, err := p.here.git("status", "--porcelain"); err != nil || changes != "" {
		return "", errors.Join(err, fmt.Errorf("there are uncommitted changes:\n%s", changes))
	}
	if branch, err = p.here.git("symbolic-ref", "--short", "HEAD"); err != nil {
		return "", errors.New("HEAD is not on a branch: the release adds two commits to a branch")
	}
	log, err := os.ReadFile(filepath.Join(string(p.clone), "CHANGELOG.md"))
	if err == nil && !strings.Contains(string(log), "\n## "+strings.TrimPrefix(p.version, "v")+" ") {
		err = fmt.Errorf("CHANGELOG.md has no heading \"## %s - DATE\"", strings.TrimPrefix(p.version, "v"))
	}
	return branch, err
}

// prepare makes what is released: each module's go.mod and go.sum in the clone's index, and from
// that its bundle. It returns the tree of all modules.
func (p *plan) prepare(out io.Writer, proxy string) (tree string, err error) {
	tree = p.base
	sums := map[*unit][]checksum{}
	for i, u := range p.released {
		fmt.Fprintf(out, "%3d. %s  %s\n", i+1, u.tag(p.version), u.path)
		if !u.isRoot() {
			var needed []checksum
			for _, r := range p.released { // each is before u
				if !u.needs()[r] {
					continue
				}
				fmt.Fprintf(out, "       requires %s at %s instead of a directory\n", r.path, p.version)
				needed = append(needed, sums[r]...)
			}
			if err := errors.Join(u.editMod(string(p.clone), p.version), u.editSum(string(p.clone), needed)); err != nil {
				return "", err
			}
			if _, err := p.clone.git("add", "--all"); err != nil {
				return "", err
			}
			if tree, err = p.clone.git("write-tree"); err != nil {
				return "", err
			}
		}
		b, err := u.pack(p.clone, tree, p.version, p.at, p.bundles)
		if err != nil {
			return "", err
		}
		if sums[u], err = b.checksums(); err != nil {
			return "", err
		}
		if proxy != "" {
			if err := b.addTo(proxy); err != nil {
				return "", err
			}
		}
	}
	return tree, nil
}

// write makes the commits and tags, first in the clone, and then fetches them all. If something
// fails, this repository is unchanged.
func (p *plan) write(tree string) error {
	released, err := p.clone.git("commit-tree", tree, "-p", p.base, "-m", "Release "+p.version+
		"\n\nNested modules require each other at the real version and replace none, so that\nthey can be installed. The tags of nested modules are of this commit.")
	if err != nil {
		return err
	}
	back, err := p.clone.git("commit-tree", p.base+"^{tree}", "-p", released, "-m", "Go back to the replaces after "+p.version+
		"\n\nNested modules require each other by their directories again.")
	if err != nil {
		return err
	}
	const branch = "refs/heads/after-release"
	if _, err := p.clone.git("update-ref", branch, back); err != nil {
		return err
	}
	fetch := []string{"fetch", "--quiet", "--atomic", "--no-tags", string(p.clone), branch}
	for _, u := range p.released {
		commit := released
		if u.isRoot() {
			commit = p.base
		}
		tag := u.tag(p.version)
		if _, err := p.clone.git("tag", "--annotate", "--message", u.path+" "+p.version, tag, commit); err != nil {
			return err
		}
		fetch = append(fetch, "refs/tags/"+tag+":refs/tags/"+tag)
	}
	if _, err := p.here.git(fetch...); err != nil {
		return err
	}
	_, err = p.here.git("merge", "--quiet", "--ff-only", back)
	return err
}
