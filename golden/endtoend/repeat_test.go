package endtoend

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/burngen/burngen/golden/endtoend/fixture"
	"github.com/burngen/burngen/golden/endtoend/module"
)

// TestGenerationIsRepeatable generates packages from other folders, into other folders, with one
// thread and with many, and with burngen built for other processors. The bytes must always be the
// same.
func TestGenerationIsRepeatable(t *testing.T) {
	module.Long(t)
	t.Parallel()
	models := map[string]string{
		"digits":  filepath.Join(module.Root, "examples", "digits", "digits.onnx"),
		"static":  fixture.Static.Write(t),
		"dynamic": fixture.Dynamic.Write(t),
	}
	for _, m := range []fixture.Corpus{"models/mnist-burn", "models/ultraface-slim-128"} {
		if m.There() {
			models[m.Name()] = m.Path(t)
		} else {
			t.Logf("no corpus: without %s", m)
		}
	}
	// The other runs must agree with the first.
	work := t.TempDir()
	want := map[string]map[string]string{}
	for name, path := range models {
		dir := filepath.Join(work, "first", name)
		module.Generate(t, path, dir)
		want[name] = files(t, dir)
	}
	for _, by := range []struct {
		name, arch string
		env        []string
		under      []string // programs that can run the binary, of which the first installed one is used; empty to run it directly
		loader     string   // of the C library of arch, which the command needs because it loads the drivers of GPUs
	}{
		{name: "one thread", env: []string{"GOMAXPROCS=1"}},
		{name: "again"},
		{name: "plain Go", env: []string{"BURNGEN_CPU=generic"}},
		{name: "386", arch: "386", loader: "/lib/ld-linux.so.2"},
		{name: "arm64", arch: "arm64", under: []string{"qemu-aarch64", "qemu-aarch64-static"}, loader: filepath.Join("/", os.Getenv("QEMU_LD_PREFIX"), "lib/ld-linux-aarch64.so.1")},
	} {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			if by.arch != "" {
				module.Elsewhere(t)
			}
			if by.arch != "" && (runtime.GOOS != "linux" || runtime.GOARCH != "amd64") {
				t.Skipf("not on %s/%s", runtime.GOOS, runtime.GOARCH)
			}
			var line []string
			if by.under != nil {
				line = append(line, lookPath(t, by.under...))
			}
			if by.loader != "" {
				if _, err := os.Stat(by.loader); err != nil {
					t.Skipf("this machine does not run the command for %s: %v", by.arch, err)
				}
			}
			line = append(line, module.Burngen(t, by.arch))
			for name, path := range models {
				// A folder below the working one, and the model by a relative path.
				from := filepath.Join(t.TempDir(), "a", "b")
				if err := os.MkdirAll(from, 0o777); err != nil {
					t.Fatal(err)
				}
				relative, err := filepath.Rel(from, path)
				if err != nil {
					t.Fatal(err)
				}
				c := exec.Command(line[0], append(line[1:], relative, "-o", filepath.Join("out", name))...)
				c.Dir = from
				c.Env = append(os.Environ(), by.env...)
				module.Output(t, c)
				same(t, name, files(t, filepath.Join(from, "out", name)), want[name])
			}
		})
	}
}

// files returns the files in a folder by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		out[e.Name()] = module.ReadFile(t, filepath.Join(dir, e.Name()))
	}
	return out
}

// same reports the files of a model that differ from the wanted files.
func same(t *testing.T, model string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s is another: %s", model, name, firstDifference(got[name], want[name]))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d files, want %d", model, len(got), len(want))
	}
}

// firstDifference describes the first difference between two texts.
func firstDifference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	excerpt := func(text string) string { return text[max(0, at-40):min(len(text), at+40)] }
	return fmt.Sprintf("byte %d of %d: %q, want %q", at, len(want), excerpt(got), excerpt(want))
}
