package together_test

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	compose "github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

const (
	root          = "../.."
	containerfile = "../../deploy/Containerfile"
	composeFile   = "../../deploy/compose.yaml"
)

// An image is a final stage of the Containerfile.
type image struct {
	program    string // that it begins with
	pkg        string // from which that is built
	entrypoint []string
	command    []string
	user       string
}

// images reads the Containerfile with the parser that docker and podman have. No image is built here, so what is
// looked at is all that a build needs: what is copied is there, from the context or from another stage, and the
// programs are those that are built.
func images(t *testing.T) map[string]image {
	t.Helper()
	text := read(t, containerfile)
	parsed, err := parser.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	stages, args, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	bases := map[string]string{}
	for _, a := range args {
		for _, kv := range a.Args {
			bases["${"+kv.Key+"}"] = *kv.Value
		}
	}
	if tag := regexp.MustCompile(`^docker\.io/library/golang:\d+\.\d+\.\d+$`); !tag.MatchString(bases["${GO}"]) {
		t.Errorf("the image that builds is %q: give a whole name and a version", bases["${GO}"])
	}
	built := map[string]map[string]string{} // by stage and file: the package
	all := map[string]image{}
	for _, s := range stages {
		built[s.Name] = map[string]string{}
		if base, argument := bases[s.BaseName]; !argument && s.BaseName != "scratch" && built[s.BaseName] == nil || argument && base == "" {
			t.Errorf("stage %s is from %s, which is none", s.Name, s.BaseName)
		}
		i := image{}
		for _, command := range s.Commands {
			switch c := command.(type) {
			case *instructions.CopyCommand:
				for _, from := range c.SourcePaths {
					if c.From == "" {
						if _, err := os.Stat(filepath.Join(root, from)); err != nil {
							t.Errorf("stage %s copies what is not there: %v", s.Name, err)
						}
						continue
					}
					pkg := built[c.From][from]
					if pkg == "" {
						t.Errorf("stage %s copies %s, which %s does not build", s.Name, from, c.From)
					}
					built[s.Name][c.DestPath] = pkg
				}
			case *instructions.RunCommand:
				if c.PrependShell {
					t.Errorf("stage %s needs a shell for %q", s.Name, c.CmdLine)
				}
				if at := slices.Index(c.CmdLine, "-o"); slices.Equal(c.CmdLine[:2], []string{"go", "build"}) && at > 0 {
					built[s.Name][c.CmdLine[at+1]] = c.CmdLine[len(c.CmdLine)-1]
				}
			case *instructions.UserCommand:
				i.user = c.User
			case *instructions.EntrypointCommand:
				i.entrypoint = c.CmdLine
			case *instructions.CmdCommand:
				i.command = c.CmdLine
			}
		}
		if s.BaseName != "scratch" {
			continue
		}
		if i.user != "65532:65532" {
			t.Errorf("stage %s runs as %q", s.Name, i.user)
		}
		if len(i.entrypoint) != 1 || built[s.Name][i.entrypoint[0]] == "" {
			t.Fatalf("stage %s begins with %q, which is not in it", s.Name, i.entrypoint)
		}
		i.program, i.pkg = i.entrypoint[0], built[s.Name][i.entrypoint[0]]
		all[s.Name] = i
	}
	if len(all) != 3 {
		t.Errorf("%d images", len(all))
	}
	if last := stages[len(stages)-1].Name; !strings.Contains(text, "without --target") || all[last].pkg == "" {
		t.Errorf("the last stage is %s", last)
	}
	return all
}

// build builds each image's program as its stage does, and returns where it is, by the name of the image. It is
// static: an empty image has no loader.
func build(t *testing.T, all map[string]image) map[string]string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts the Go tool; the run without -short does")
	}
	dir, programs := t.TempDir(), map[string]string{}
	for name, i := range all {
		programs[name] = filepath.Join(dir, name)
		c := exec.Command("go", "build", "-o", programs[name], i.pkg)
		c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", i.pkg, err, out)
		}
		f, err := elf.Open(programs[name])
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				t.Errorf("%s is not static", i.pkg)
			}
		}
		f.Close()
	}
	return programs
}

// knows reports an error unless a program has each flag of a command line, with a value that it can read. It asks
// for the help beside them: then nothing is done.
func knows(t *testing.T, where, program string, args []string) {
	t.Helper()
	if out, err := exec.Command(program, append(slices.Clone(args), "--help")...).CombinedOutput(); err != nil {
		t.Errorf("%s: %q: %v\n%s", where, args, err, out)
	}
}

// nineTenths reports an error unless a GOMEMLIMIT is nine tenths of a limit of memory.
func nineTenths(t *testing.T, where, text string, limit int64) {
	t.Helper()
	if want := fmt.Sprint(limit / 10 * 9); limit <= 0 || text != want && text != fmt.Sprint(limit*9/10) {
		t.Errorf("%s: GOMEMLIMIT is %q of %d bytes, want %s", where, text, limit, want)
	}
}

// composed reads compose.yaml by the library of Docker Compose, which also looks whether it is as the
// specification has it.
func composed(t *testing.T, environment map[string]string) (*compose.Project, error) {
	t.Helper()
	dir, err := filepath.Abs(filepath.Dir(composeFile))
	if err != nil {
		t.Fatal(err)
	}
	return loader.LoadWithContext(t.Context(), compose.ConfigDetails{
		WorkingDir: dir, ConfigFiles: []compose.ConfigFile{{Filename: filepath.Join(dir, filepath.Base(composeFile))}}, Environment: environment,
	})
}

// The images' programs are built once, and each command line of deploy/ is given to the one that it is for.
func TestDeploy(t *testing.T) {
	all := images(t)
	programs := build(t, all)
	t.Run("images", func(t *testing.T) {
		for name, i := range all {
			knows(t, "the image "+name, programs[name], i.command)
		}
	})
	t.Run("refusal", func(t *testing.T) { testRefusal(t, programs) })
	t.Run("compose", func(t *testing.T) { testCompose(t, all, programs) })
	t.Run("pods", func(t *testing.T) { testPods(t, programs) })
	t.Run("probes", func(t *testing.T) { testProbes(t, programs) })
}

// What compose starts is there, is locked up, and is told what it understands.
func testCompose(t *testing.T, all map[string]image, programs map[string]string) {
	if _, err := composed(t, nil); err == nil || !strings.Contains(err.Error(), "POSTGRES_PASSWORD") {
		t.Errorf("without a password: %v", err)
	}
	project, err := composed(t, map[string]string{"POSTGRES_PASSWORD": "secret"})
	if err != nil {
		t.Fatal(err)
	}
	ours := 0
	for name, s := range project.Services {
		for on, how := range s.DependsOn {
			if how.Condition == compose.ServiceConditionHealthy && project.Services[on].HealthCheck == nil {
				t.Errorf("%s waits for %s to be healthy, which nobody looks at", name, on)
			}
		}
		for _, p := range s.Ports {
			if name != "matchmaker" || p.Target != 8080 || p.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %d is shown to %q", name, p.Target, p.HostIP)
			}
		}
		for _, v := range s.Volumes {
			if _, err := os.Stat(v.Source); err != nil || !v.ReadOnly {
				t.Errorf("%s: %s of the host: %v, or it may be written", name, v.Source, err)
			}
		}
		if s.MemLimit <= 0 {
			t.Errorf("%s has no limit of memory", name)
		}
		if s.Build == nil {
			if !strings.Contains(s.Image, ":") {
				t.Errorf("%s: the image %s has no tag", name, s.Image)
			}
			continue
		}
		ours++
		if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
			t.Error(err)
		}
		if all[s.Build.Target].pkg == "" {
			t.Errorf("%s: there is no image %s", name, s.Build.Target)
			continue
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || s.CPUS <= 0 || s.PidsLimit <= 0 {
			t.Errorf("%s is not locked up: %+v", name, s)
		}
		nineTenths(t, name, *s.Environment["GOMEMLIMIT"], int64(s.MemLimit))
		knows(t, name, programs[s.Build.Target], s.Command)
		if s.HealthCheck == nil {
			continue
		}
		if test := s.HealthCheck.Test; test[0] != "CMD" || test[1] != all[s.Build.Target].program {
			t.Errorf("%s: an empty image cannot run %q", name, test)
		} else {
			knows(t, name+"'s health check", programs[s.Build.Target], test[2:])
		}
	}
	if ours != 2 {
		t.Errorf("%d services are built here", ours)
	}
	if scenario := project.Services["dewload"].Command[1]; scenario != "/scenario/session.yaml" {
		t.Errorf("dewload runs %s", scenario)
	} else if _, err := os.Stat(filepath.Join(project.Services["dewload"].Volumes[0].Source, "session.yaml")); err != nil {
		t.Error(err)
	}
}

// A program refuses a flag that it does not have, and a value that it cannot read: else knows would see nothing.
func testRefusal(t *testing.T, programs map[string]string) {
	for name, args := range map[string][]string{"matchmaker": {"serve", "--htttp=:8080"}, "dewload": {"run", "/x.yaml", "--duration=soon"}, "dewpond": {"bench", "--no-such"}} {
		if out, err := exec.Command(programs[name], append(args, "--help")...).CombinedOutput(); err == nil {
			t.Errorf("%s takes %q:\n%s", name, args, out)
		}
	}
}
