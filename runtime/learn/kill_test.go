package learn

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/burngen/burngen/internal/itself"
	"github.com/burngen/burngen/runtime/metric"
)

var kills = flag.Int("kills", 6, "kill runs at `N` random moments")

// childRun is the environment variable that makes a test process a run, in the folder that it names.
const childRun = "LEARN_TEST_RUN"

// slowly are the options of a run that is killed. Each step takes some time, and states are saved often.
func slowly(o *Options) {
	o.SaveEvery, o.ValidEvery, o.Resume = 1, 3, Continue
	o.Log = []Logger{TensorBoard()}
}

// TestChildRun is the run of a child process. It writes a line when it has begun.
func TestChildRun(t *testing.T) {
	dir := os.Getenv(childRun)
	if dir == "" {
		t.Skip("this is for child processes")
	}
	r := newRig(t, dir, slowly)
	step := r.learner.task.Step
	r.learner.task.Step = func(b *set) (metric.Values, error) {
		time.Sleep(time.Millisecond)
		return step(b)
	}
	ctx, stop := Interruptible(t.Context())
	defer stop()
	fmt.Println("begun")
	if _, err := r.fit(ctx); err != nil {
		t.Fatal(err)
	}
}

// runChild starts a run in a process, and sends it a signal after some time. It returns how it ended.
func runChild(t *testing.T, dir string, s os.Signal, after time.Duration) error {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestChildRun$")
	c.Env = append(os.Environ(), childRun+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	time.Sleep(after)
	c.Process.Signal(s) // it may have ended already
	for lines.Scan() {
	}
	return c.Wait()
}

// TestKilled kills runs at random moments, continues them, and asserts that the weights, states and files
// are those of a run that was never killed.
func TestKilled(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no processes")
	}
	itself.Need(t)
	whole := t.TempDir()
	newRig(t, whole, slowly).mustFit(t)
	r := rand.New(rand.NewPCG(1, 2))
	for n := 0; n < *kills; {
		dir := t.TempDir()
		for range 3 {
			runChild(t, dir, os.Kill, time.Duration(r.Int64N(int64(80*time.Millisecond))))
			n++
		}
		newRig(t, dir, slowly).mustFit(t)
		sameCurves(t, dir, whole)
		if t.Failed() {
			t.Fatalf("after %d kills", n)
		}
	}
}

// TestKilledAfterTheState takes away what is written after the state, as if the process was killed there, and
// asserts that a continuation writes it.
func TestKilledAfterTheState(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	newRig(t, whole, slowly).mustFit(t)
	newRig(t, dir, slowly).mustFit(t)
	if err := os.WriteFile(filepath.Join(dir, bestFile), []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	newRig(t, dir, slowly).mustFit(t)
	sameCurves(t, dir, whole)
}

// TestTerminated ends runs with SIGTERM, which may come during a save.
func TestTerminated(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" || runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	itself.Need(t)
	whole, dir := t.TempDir(), t.TempDir()
	newRig(t, whole, slowly).mustFit(t)
	for i := range 2 {
		if err := runChild(t, dir, syscall.SIGTERM, time.Duration(10+15*i)*time.Millisecond); err != nil {
			t.Errorf("the run ended with %v", err)
		}
	}
	newRig(t, dir, slowly).mustFit(t)
	sameCurves(t, dir, whole)
}

// sameCurves is sameRun for runs that have files for TensorBoard, whose names differ.
func sameCurves(t *testing.T, got, want string) {
	t.Helper()
	a, b := scalarsOf(t, got), scalarsOf(t, want)
	if len(b) == 0 || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%d events for TensorBoard, want %d", len(a), len(b))
	}
	sameRun(t, got, want)
}
