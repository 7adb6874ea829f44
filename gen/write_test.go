package gen

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/runtime/rt"
)

// outputEnv names the folder that a process of TestKilledWrite writes to.
const outputEnv = "BURNGEN_TEST_OUTPUT"

// TestKilledWrite kills a process that writes a package. The folder does not change, except for
// temporary files. The next process that writes there removes them.
func TestKilledWrite(t *testing.T) {
	text := emit.File{Name: "model.go", Data: []byte(headerLine + "\n")}
	write := func(dir string, files ...emit.File) {
		t.Helper()
		o, err := NewOutput(dir, files)
		if err == nil {
			err = o.Write()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if dir := os.Getenv(outputEnv); dir != "" {
		endless := rt.NewWeights()
		rt.AddMade(endless, "w", func([]float32) error {
			fmt.Println("writing")
			select {}
		}, 1)
		write(dir, text, emit.File{Name: "m.safetensors", Large: endless})
	}
	dir := t.TempDir()
	c := exec.Command(os.Args[0], "-test.run=^TestKilledWrite$")
	c.Env = append(os.Environ(), outputEnv+"="+dir)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	c.Process.Kill()
	c.Wait()
	if err != nil || line != "writing\n" {
		t.Fatal(line, err)
	}
	if left := names(t, dir); len(left) == 0 || len(left) != len(temporaries(t, dir)) {
		t.Fatalf("%q after the process is killed, temporary files expected", left)
	}
	write(dir, text)
	if got := names(t, dir); len(got) != 1 || got[0] != text.Name {
		t.Errorf("%q, want %s alone", got, text.Name)
	}
}

func names(t *testing.T, dir string) []string {
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

func temporaries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, ".burngen-*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
