//go:build linux

// Command learn measures what a learner costs. It trains the network of examples/mnist in four ways: by a loop
// written by hand; by a learner with a loader and a metric; by a learner that also keeps the folder of a run; and by
// a learner that also shows the dashboard in a terminal of 80 × 24.
//
//	go run ./learn [-steps 500] [-rounds 5] [-threads 1]
//
// Each way trains in processes of its own, in turns with the others. The first two columns are the time and the
// processor time of a step, each the shortest of all rounds. The other two columns are ratios of these times to the
// times of the loop by hand: the median of the rounds' ratios.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/burngen/burngen/runtime/rt"
)

// sideVariable is an environment variable whose value is an index of [sides]. If it is set, the program trains as this
// side.
const sideVariable = "BURNGEN_BENCH_LEARN_SIDE"

var sides = []struct {
	name  string
	train func(steps int, dir string) error
}{
	{"by hand", byHand},
	{"learner", learner},
	{"with folder", withFolder},
	{"with dashboard", withDashboard},
}

func main() {
	steps := flag.Int("steps", 500, "steps in a round")
	rounds := flag.Int("rounds", 5, "rounds")
	threads := flag.Int("threads", 1, "threads of a step")
	flag.Parse()
	if *steps < 2 || *rounds < 1 {
		fmt.Fprintln(os.Stderr, "learn: two steps and one round are the least")
		os.Exit(2)
	}
	var err error
	if side := os.Getenv(sideVariable); side != "" {
		err = train(side, *steps, *threads)
	} else {
		err = compare(*steps, *rounds, *threads)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "learn:", err)
		os.Exit(1)
	}
}

func train(side string, steps, threads int) error {
	k, err := strconv.Atoi(side)
	if err != nil || k < 0 || k >= len(sides) {
		return fmt.Errorf("%s=%s", sideVariable, side)
	}
	dir, err := os.MkdirTemp("", "learn")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rt.Threads(threads)
	return sides[k].train(steps, dir)
}

// taken is the mean time of a step, in seconds.
type taken struct{ Wall, Processor float64 }

// meter measures the steps of a side, from the end of the first one to the end of the last one.
type meter struct {
	steps, done int
	begin       time.Time
	before      time.Duration
}

// step counts a step. The last call writes the mean times of a step as JSON, a [taken], to file descriptor 3.
func (m *meter) step() error {
	switch m.done++; m.done {
	case 1:
		m.begin, m.before = time.Now(), processorTime()
	case m.steps:
		n := float64(m.steps - 1)
		return json.NewEncoder(os.NewFile(3, "result")).Encode(taken{time.Since(m.begin).Seconds() / n, (processorTime() - m.before).Seconds() / n})
	}
	return nil
}

// processorTime returns the user and system time of this process so far, or 0 if it is unknown.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func compare(steps, rounds, threads int) error {
	times := make([][]taken, len(sides))
	for range rounds {
		for k := range sides {
			x, err := start(k)
			if err != nil {
				return fmt.Errorf("%s: %w", sides[k].name, err)
			}
			times[k] = append(times[k], x)
		}
	}
	fmt.Printf("%d steps of 64 images a round, %d rounds, %d threads\n", steps, rounds, threads)
	fmt.Printf("%-15s %9s %9s %7s %7s\n", "side", "ms", "cpu ms", "time", "cpu")
	for k, s := range sides {
		wall, cpu := times[k][0].Wall, times[k][0].Processor
		var walls, cpus []float64
		for r, x := range times[k] {
			wall, cpu = min(wall, x.Wall), min(cpu, x.Processor)
			walls, cpus = append(walls, x.Wall/times[0][r].Wall), append(cpus, x.Processor/times[0][r].Processor)
		}
		fmt.Printf("%-15s %9.3f %9.3f %7.3f %7.3f\n", s.name, 1e3*wall, 1e3*cpu, median(walls), median(cpus))
	}
	return nil
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// start runs side k in a new process and returns its measurements. The process draws on a pseudo-terminal that nobody
// sees.
func start(k int) (taken, error) {
	terminal, own, err := openTerminal()
	if err != nil {
		return taken{}, err
	}
	defer terminal.Close()
	read, write, err := os.Pipe()
	if err != nil {
		own.Close()
		return taken{}, err
	}
	defer read.Close()
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), sideVariable+"="+strconv.Itoa(k), "TERM=xterm-256color", "CI=", "NO_COLOR=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = own, own, os.Stderr
	cmd.ExtraFiles = []*os.File{write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	own.Close()
	write.Close()
	if err != nil {
		return taken{}, err
	}
	go func() { // what is drawn is not shown
		for b := make([]byte, 64<<10); ; {
			if _, err := terminal.Read(b); err != nil {
				return
			}
		}
	}()
	var x taken
	decoded := json.NewDecoder(read).Decode(&x)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			return x, errors.Join(err, decoded)
		case <-time.After(50 * time.Millisecond):
			terminal.WriteString("x") // the dashboard waits for a key when the run is over
		}
	}
}

// openTerminal opens a pseudo-terminal of 24 rows and 80 columns. terminal is its master end, and own is its slave
// end.
func openTerminal() (terminal, own *os.File, err error) {
	if terminal, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	number := 0
	if err = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		number, err = unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	}
	if err == nil {
		own, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(own.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		terminal.Close()
	}
	return terminal, own, err
}
