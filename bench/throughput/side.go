package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// side is a number of processes that compute calls at the same time.
type side struct {
	name        string
	commands    [][]string // of the processes
	environment []string   // variables that are added to the environment
	outputs     string     // file to which the processes write the outputs of a call
	// talk has a process compute calls for a time. It returns the times of the calls of each caller in the process.
	talk func(p *process, d time.Duration) ([][]time.Duration, error)

	running   []*process
	rates     []float64       // calls per second of each turn
	latencies []time.Duration // of the calls of all turns
}

// process is a running process of a side.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	stderr  bytes.Buffer
}

// start starts the processes, one after the other. It waits until each is ready, and then suspends it until
// [side.turn].
func (s *side) start() error {
	for _, command := range s.commands {
		p := &process{command: exec.Command(command[0], command[1:]...)}
		p.command.Env, p.command.Stderr = append(os.Environ(), s.environment...), &p.stderr
		in, err := p.command.StdinPipe()
		if err != nil {
			return err
		}
		out, err := p.command.StdoutPipe()
		if err != nil {
			return err
		}
		p.in, p.out = in, bufio.NewReader(out)
		if err := p.command.Start(); err != nil {
			return err
		}
		s.running = append(s.running, p)
		if line, err := p.line(); err != nil || line != "ready" {
			s.end()
			return errors.Join(fmt.Errorf("a process said %q, want ready", line), err)
		}
		if err := p.command.Process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
	}
	return nil
}

// end ends the processes.
func (s *side) end() {
	for _, p := range s.running {
		p.command.Process.Kill()
		p.command.Wait()
	}
	s.running = nil
}

// turn has all processes compute calls at the same time, first for a tenth of time d to warm up, and then for time d.
// At other times the processes are suspended.
func (s *side) turn(d time.Duration) error {
	for _, p := range s.running {
		if err := p.command.Process.Signal(syscall.SIGCONT); err != nil {
			return err
		}
	}
	if _, err := s.load(d / 10); err != nil {
		return err
	}
	callers, err := s.load(d)
	if err != nil {
		return err
	}
	rate := 0.0
	for _, times := range callers {
		rate += perSecond(times)
		s.latencies = append(s.latencies, times...)
	}
	s.rates = append(s.rates, rate)
	for _, p := range s.running {
		if err := p.command.Process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
	}
	return nil
}

// load has all processes compute calls for time d. It returns the times of the calls of each caller.
func (s *side) load(d time.Duration) ([][]time.Duration, error) {
	type reply struct {
		callers [][]time.Duration
		err     error
	}
	replies := make(chan reply)
	for _, p := range s.running {
		go func() {
			callers, err := s.talk(p, d)
			replies <- reply{callers, err}
		}()
	}
	var all [][]time.Duration
	var errs []error
	for range s.running {
		r := <-replies
		all, errs = append(all, r.callers...), append(errs, r.err)
	}
	return all, errors.Join(errs...)
}

// rate returns the median of the calls per second.
func (s *side) rate() float64 {
	if len(s.rates) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s.rates))
	return sorted[len(sorted)/2]
}

// perSecond returns the calls per second of a caller, given the times of its calls.
func perSecond(times []time.Duration) float64 {
	var sum time.Duration
	for _, t := range times {
		sum += t
	}
	if sum <= 0 {
		return 0
	}
	return float64(len(times)) / sum.Seconds()
}

// loads returns the function [side].talk for programs that package callers runs, with n callers each.
func loads(n int) func(*process, time.Duration) ([][]time.Duration, error) {
	return func(p *process, d time.Duration) ([][]time.Duration, error) {
		if _, err := fmt.Fprintf(p.in, "load %s\n", d); err != nil {
			return nil, err
		}
		callers := make([][]time.Duration, n)
		for i := range callers {
			var err error
			if callers[i], err = p.times(); err != nil {
				return nil, err
			}
		}
		return callers, nil
	}
}

// runTime is about the time of a run of ONNX Runtime. A run is the calls that one command asks for.
const runTime = 20 * time.Millisecond

// runs is the function [side].talk for processes of ONNX Runtime, which obey the commands that package worker obeys.
// It commands runs until time d is over. It chooses the number of calls of a run from the time of the last call, so
// that a run takes about runTime.
func runs(p *process, d time.Duration) ([][]time.Duration, error) {
	var all []time.Duration
	for begin, n := time.Now(), 1; ; {
		if _, err := fmt.Fprintf(p.in, "run %d 1\n", n); err != nil {
			return nil, err
		}
		times, err := p.times()
		if err != nil {
			return nil, err
		}
		if all = append(all, times...); time.Since(begin) >= d {
			return [][]time.Duration{all}, nil
		}
		n = int(max(1, runTime/max(1, times[len(times)-1])))
	}
}

// times reads a line of times in nanoseconds. It returns an error if there are none.
func (p *process) times() ([]time.Duration, error) {
	line, err := p.line()
	if err != nil {
		return nil, err
	}
	var times []time.Duration
	for text := range strings.FieldsSeq(line) {
		ns, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		times = append(times, time.Duration(ns))
	}
	if len(times) == 0 {
		return nil, errors.New("a process has computed no calls")
	}
	return times, nil
}

func (p *process) line() (string, error) {
	text, err := p.out.ReadString('\n')
	if err != nil {
		p.command.Process.Kill()
		p.command.Wait() // until then standard error is not complete
		return "", fmt.Errorf("%w: %s", err, bytes.TrimSpace(p.stderr.Bytes()))
	}
	return strings.TrimSpace(text), nil
}
