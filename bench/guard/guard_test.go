//go:build amd64 && linux

package guard

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"

	"github.com/burngen/burngen/bench/tensors"
	"github.com/burngen/burngen/gen"
)

var update = flag.Bool("update", false, "writes the table anew")

// table is the file with the counts.
const table = "counts.tsv"

// How much a measurement may exceed the table.
const (
	moreInstructions = 1.05
	moreTime         = 1.6
	attempts         = 6 // attempts to stay within moreTime
)

// levels are the columns of the table, after the name.
var levels = []string{"generic", "avx2", "avx512"}

// TestCounts compares the instructions of plain Go and AVX2 with the table. For AVX-512 it compares
// the time relative to multiply-adds.
func TestCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		t.Log("no valgrind: instructions are not counted")
	}
	dir := build(t)
	want, version := readTable(t)
	got := map[string]map[string]float64{}
	for _, level := range levels {
		t.Run(level, func(t *testing.T) {
			switch {
			case level == "avx512" && !cpu.X86.HasAVX512F:
				t.Skip("no AVX-512")
			case level == "avx512":
				got[level] = times(t, dir, want[level])
			case valgrind == "":
				t.Skip("no valgrind")
			case level == "generic" && version != runtime.Version() && !*update:
				t.Skipf("the table is of %s", version)
			default:
				got[level] = instructions(t, dir, level)
			}
			if *update {
				return
			}
			bound := moreInstructions
			if level == "avx512" {
				bound = moreTime
			}
			for _, m := range models {
				g, w := got[level][m.name], want[level][m.name]
				switch {
				case w == 0:
					t.Errorf("%s is not in the table", m.name)
				case g > bound*w:
					t.Errorf("%s takes %s, the table says %s", m.name, format(g), format(w))
				case g < w/bound && level != "avx512":
					t.Logf("%s takes %s, the table says %s: -update keeps that", m.name, format(g), format(w))
				}
			}
		})
	}
	if *update && !t.Failed() {
		for _, level := range levels {
			if got[level] == nil {
				got[level] = want[level]
			}
		}
		writeTable(t, got)
	}
}

// build makes one program of all models and returns its folder.
func build(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "out", "_guard"))
	if err != nil {
		t.Fatal(err)
	}
	var imports, cases strings.Builder
	for _, m := range models {
		pkg := "case_" + strings.ReplaceAll(m.name, "-", "_")
		folder := filepath.Join(dir, pkg)
		must(t, os.MkdirAll(folder, 0o777))
		file := filepath.Join(dir, pkg+".onnx")
		must(t, os.WriteFile(file, m.file(), 0o666))
		g, err := gen.Load(file, gen.Options{Package: pkg})
		must(t, err)
		files, err := g.Files()
		must(t, err)
		for _, f := range files {
			out, err := os.Create(filepath.Join(folder, f.Name))
			must(t, err)
			_, err = f.WriteFile(out)
			must(t, errors.Join(err, out.Close()))
		}
		must(t, tensors.Write(filepath.Join(dir, m.name+".bin"), []tensors.Tensor{
			{Name: "x", Type: "float32", Shape: m.input, Data: weight(m.input...).Bytes()},
		}))
		fmt.Fprintf(&imports, "\t%q\n", "github.com/burngen/burngen/bench/out/_guard/"+pkg)
		fmt.Fprintf(&cases, "\t\t{%q, worker.Opener(%[2]s.Load, (*%[2]s.Model).Meta, (*%[2]s.Model).NewSession, (*%[2]s.Session).Forward)},\n", m.name, pkg)
	}
	main := "package main\n\nimport (\n\t\"github.com/burngen/burngen/bench/guard\"\n\t\"github.com/burngen/burngen/bench/worker\"\n" + imports.String() +
		")\n\nfunc main() {\n\tguard.Main([]guard.Case{\n" + cases.String() + "\t})\n}\n"
	must(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(main), 0o666))
	c := exec.Command("go", "build", "-o", "program", ".")
	c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// program returns a command that runs the program at a level. wrap is a command under which the
// program is run, or empty. Valgrind does not
// know the instruction RDTSCP, with which Go reads the clock where threads wait for each other.
func program(dir, level, task string, wrap ...string) *exec.Cmd {
	args := append(wrap, filepath.Join(dir, "program"), task, dir)
	c := exec.Command(args[0], args[1:]...)
	c.Env = append(os.Environ(), "BURNGEN_CPU="+level, "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off")
	return c
}

// instructions returns the number of instructions of each model.
func instructions(t *testing.T, dir, level string) map[string]float64 {
	t.Helper()
	out := t.TempDir()
	c := program(dir, level, "count", "valgrind", "--tool=callgrind", "--callgrind-out-file="+filepath.Join(out, "counts"))
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	files, err := filepath.Glob(filepath.Join(out, "counts.*"))
	must(t, err)
	counts := map[string]float64{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(t, err)
		name, total := "", 0.
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if text, ok := strings.CutPrefix(line, "desc: Trigger: Client Request: "); ok {
				name = text
			}
			if text, ok := strings.CutPrefix(line, "summary: "); ok {
				total, _ = strconv.ParseFloat(text, 64)
			}
		}
		if name != "" && (counts[name] == 0 || total < counts[name]) {
			counts[name] = total
		}
	}
	if len(counts) != len(models) {
		t.Fatalf("%d of %d models are counted, in %d files", len(counts), len(models), len(files))
	}
	return counts
}

// times returns the time of each model with AVX-512, in units of guard.reference. It is the lowest
// of several runs. A model that exceeds its bound is run more often.
func times(t *testing.T, dir string, want map[string]float64) map[string]float64 {
	t.Helper()
	least := map[string]float64{}
	over := func() bool {
		return slices.ContainsFunc(models, func(m model) bool { return least[m.name] > moreTime*want[m.name] })
	}
	for i := 0; i < attempts && (i == 0 || *update || over()); i++ {
		text, err := program(dir, "avx512", "time").Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var name string
			var v float64
			if _, err := fmt.Sscan(line, &name, &v); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if least[name] == 0 || v < least[name] {
				least[name] = v
			}
		}
	}
	return least
}

// readTable returns the table's columns, keyed by level and model, and the version of Go that wrote
// it.
func readTable(t *testing.T) (columns map[string]map[string]float64, version string) {
	t.Helper()
	columns = map[string]map[string]float64{}
	for _, level := range levels {
		columns[level] = map[string]float64{}
	}
	f, err := os.Open(table)
	if err != nil {
		if *update {
			return columns, ""
		}
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan()
	version, _, _ = strings.Cut(lines.Text(), "\t")
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) != 1+len(levels) {
			t.Fatalf("%s: %q", table, lines.Text())
		}
		for i, level := range levels {
			v, err := strconv.ParseFloat(cells[1+i], 64)
			must(t, err)
			columns[level][cells[0]] = v
		}
	}
	return columns, version
}

func writeTable(t *testing.T, columns map[string]map[string]float64) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\t%s\n", runtime.Version(), strings.Join(levels, "\t"))
	for _, m := range models {
		b.WriteString(m.name)
		for _, level := range levels {
			b.WriteString("\t" + format(columns[level][m.name]))
		}
		b.WriteByte('\n')
	}
	must(t, os.WriteFile(table, []byte(b.String()), 0o666))
}

// format formats a count, or a time in units, as the table has it.
func format(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// TestTheTableIsOfTheModels asserts that the table has a line for every model and no other lines.
func TestTheTableIsOfTheModels(t *testing.T) {
	columns, _ := readTable(t)
	for _, level := range levels {
		if len(columns[level]) != len(models) {
			t.Errorf("%d lines for %d models", len(columns[level]), len(models))
		}
		for _, m := range models {
			if cmp.Compare(columns[level][m.name], 0) <= 0 {
				t.Errorf("%s: no %s", m.name, level)
			}
		}
	}
}
