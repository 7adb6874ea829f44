package temporary

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// dirEnv names the folder in which a process of the tests leaves a file and a folder.
const dirEnv = "BURNGEN_TEST_TEMPORARY"

func TestMain(m *testing.M) {
	dir := os.Getenv(dirEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	EndBySignal()
	f, err := File(dir)
	if err == nil {
		_, err = Folder(dir)
	}
	fmt.Println("made", f.Name(), err)
	select {}
}

// leaving starts a process that makes a file and a folder in dir and waits.
func leaving(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), dirEnv+"="+dir)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasSuffix(line, "<nil>\n") {
		t.Fatal(line, err)
	}
	return c
}

func listed(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals between processes")
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(s) { // as SIGHUP below nohup
			t.Logf("%v is ignored", s)
			continue
		}
		dir := t.TempDir()
		c := leaving(t, dir)
		if got := listed(t, dir); len(got) != 2 {
			t.Fatalf("%q, a file and a folder expected", got)
		}
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		c.Wait()
		if got := c.ProcessState.ExitCode(); got != 128+int(s) {
			t.Errorf("%v: exit code %d", s, got)
		}
		if got := listed(t, dir); len(got) != 0 {
			t.Errorf("%v: %q are left", s, got)
		}
	}
}

// TestSweep removes what a killed process left, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	killed := leaving(t, dir)
	killed.Process.Kill()
	killed.Wait()
	left := listed(t, dir)
	running := leaving(t, dir)
	defer running.Wait()
	defer running.Process.Kill()
	other := []string{".burngen-", ".burngen-notes", ".burngen-00000000-1-2", "x" + left[0], strings.ToUpper(left[0])}
	for _, name := range other {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	before := listed(t, dir)
	Sweep(dir)
	want := slices.DeleteFunc(before, func(name string) bool { return slices.Contains(left, name) })
	if got := listed(t, dir); len(left) != 2 || !slices.Equal(got, want) {
		t.Errorf("%q are left, want %q; %q were of a killed process", got, want, left)
	}
	Sweep(filepath.Join(dir, "none"))
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.txt")
	text := func(s string) func(*os.File) error {
		return func(f *os.File) error { _, err := f.WriteString(s); return err }
	}
	holds := func(want string) {
		t.Helper()
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
		for _, name := range listed(t, dir) {
			if names.MatchString(name) {
				t.Errorf("%s is left", name)
			}
		}
	}
	if err := Write(path, text("one")); err != nil {
		t.Fatal(err)
	}
	holds("one")
	broken := errors.New("broken")
	err := Write(path, func(f *os.File) error {
		if during := listed(t, dir); len(during) != 2 {
			t.Errorf("%q while a file is written", during)
		}
		f.WriteString("tw")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	holds("one")
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("out.txt", link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, text("two")); err != nil {
		t.Fatal(err)
	}
	holds("two")
	for name, want := range map[string]os.FileMode{path: 0o600, link: os.ModeSymlink} {
		if info, err := os.Lstat(name); err != nil || info.Mode()&(os.ModeSymlink|0o777) != want && want != os.ModeSymlink || info.Mode().Type() != want.Type() {
			t.Errorf("%s: mode %v, want %v, error %v", name, info.Mode(), want, err)
		}
	}
	if err := Write(os.DevNull, text("three")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is replaced: %v", os.DevNull, err)
	}
}
