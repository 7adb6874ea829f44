// Serve compares the server of runtime/serve with ONNX Runtime behind node's HTTP server: requests each second,
// latencies, memory, and the time from the start of a process to its first answer. Both compute the same model for the
// same requests, and their answers are compared. It also measures what gRPC costs, and what new weights, SIGTERM and a
// long load do to a server. It writes RESULTS-SERVE.md.
//
//	go run ./models minilm-s16-n squeezenet resnet50
//	go run ./serve [-o FILE] [-rounds 5] [-time 2s] [-starts 5] [-soak 60s] [-burngen CMD] [CASE ...]
//
// It needs Linux with two processors, taskset, node, and `npm ci`. Servers run on the first processor, and the load on
// the second. Other work on these processors changes the times. It changes the ratios less: the servers take turns.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bench describes a case: a model, and the number of connections over which requests are sent.
type bench struct {
	name, model string
	conns       int
	// flags of a second burngen server, which batches requests; it does not run if this is empty
	batching []string
}

var cases = []bench{
	{"digits", "../examples/digits/digits.onnx", 8, nil},
	{"minilm-s16-n", "out/models/minilm-s16-n/model.onnx", 16, []string{"-max-batch", "16"}},
	{"squeezenet", "out/models/squeezenet/model.onnx", 4, nil},
	{"resnet50", "out/models/resnet50/model.onnx", 4, nil},
}

// served is the model's name in requests.
func (b bench) served() string { return strings.TrimSuffix(filepath.Base(b.model), ".onnx") }

// round is one turn of a server under load.
type round struct {
	*load
	// mean processor time of the server per request
	processor time.Duration
}

// result has the measurements of a case. rms is the largest [difference] between the sides' answers.
type result struct {
	bench
	rms   float64
	sides []*side
	// the peak of resident memory in bytes of each side
	memory []int64
}

type options struct {
	rounds, starts int
	turn, soak     time.Duration
	burngen        []string
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("serve: ")
	var o options
	file := flag.String("o", "serve/RESULTS-SERVE.md", "file to write")
	flag.IntVar(&o.rounds, "rounds", 5, "turns of each server under load")
	flag.DurationVar(&o.turn, "time", 2*time.Second, "time of a turn")
	flag.IntVar(&o.starts, "starts", 5, "new processes of each server, to time their first answers")
	flag.DurationVar(&o.soak, "soak", time.Minute, "time of the long load; 0 leaves it out")
	generator := flag.String("burngen", "go tool burngen", "the generator's command")
	flag.Parse()
	o.burngen = strings.Fields(*generator)
	p := newPage(o)
	if err := measure(p, o, flag.Args()); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*file, p.text(), 0o666); err != nil {
		log.Fatal(err)
	}
}

func measure(p *page, o options, names []string) error {
	programs := map[string]string{}
	chosen := slices.Clone(cases)
	if len(names) > 0 {
		chosen = slices.DeleteFunc(chosen, func(b bench) bool { return !slices.Contains(names, b.name) })
	}
	for _, b := range chosen {
		log.Printf("building the server of %s", b.name)
		dir, err := filepath.Abs(filepath.Join("out", "serve", b.name))
		if err != nil {
			return err
		}
		if programs[b.name], err = build(o.burngen, b.model, dir); err != nil {
			return err
		}
	}
	if err := pin(); err != nil {
		return err
	}
	for _, b := range chosen {
		r, err := compare(b, programs[b.name], o)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		p.results = append(p.results, r)
		log.Printf("%s\n%s", b.name, p.rows(r))
	}
	if program := programs["digits"]; program != "" {
		if err := p.measureServer(program, o); err != nil {
			return err
		}
	}
	return nil
}

// pin moves this process, which sends the load, to the second processor.
func pin() error {
	if runtime.NumCPU() < 2 {
		return fmt.Errorf("this machine has one processor, want two")
	}
	if out, err := exec.Command("taskset", "-a", "-p", "-c", "1", strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		return fmt.Errorf("taskset: %w\n%s", err, out)
	}
	runtime.GOMAXPROCS(1)
	return nil
}

// compare measures the servers of a model in turns.
func compare(b bench, program string, o options) (*result, error) {
	r := &result{bench: b}
	own := func(flags ...string) func(string) []string {
		return func(port string) []string {
			return append([]string{program, "-http", "127.0.0.1:" + port, "-log", "off"}, flags...)
		}
	}
	r.sides = []*side{
		{name: "node, ONNX Runtime", command: func(port string) []string { return []string{"node", "serve/server.mjs", b.model, port} }},
		{name: "burngen", command: own()},
	}
	if len(b.batching) > 0 {
		r.sides = append(r.sides, &side{name: "burngen, batches", command: own(b.batching...)})
	}
	in, err := inputsOf(program, b.served())
	if err != nil {
		return nil, err
	}
	request := restRequest(b.served(), in)
	for range max(o.starts, 1) {
		for _, s := range r.sides {
			if s.server, err = s.start(request); err != nil {
				return nil, err
			}
			s.starts = append(s.starts, s.server.first)
			s.server.kill()
		}
	}
	for _, s := range r.sides {
		if s.server, err = s.start(request); err != nil {
			return nil, err
		}
		defer s.server.kill()
	}
	if r.rms, err = alike(r.sides); err != nil {
		return nil, err
	}
	for i := range o.rounds {
		order := slices.Clone(r.sides)
		if i%2 == 1 {
			slices.Reverse(order)
		}
		for _, s := range order {
			runFor(s.server.address, request, b.conns, o.turn/10) // warms
			begun, err := s.server.cpu()
			if err != nil {
				return nil, err
			}
			l := runFor(s.server.address, request, b.conns, o.turn)
			if l.failed > 0 || len(l.latencies) == 0 {
				return nil, fmt.Errorf("%s: %d requests failed, %d did not: %s", s.name, l.failed, len(l.latencies), l.failure)
			}
			ended, err := s.server.cpu()
			if err != nil {
				return nil, err
			}
			s.rounds = append(s.rounds, round{l, (ended - begun) / time.Duration(len(l.latencies))})
		}
	}
	for _, s := range r.sides {
		peak, err := s.server.memory()
		if err != nil {
			return nil, err
		}
		r.memory = append(r.memory, peak)
	}
	return r, nil
}

// most is the largest [difference] of answers that count as equal.
const most = 1e-4

// alike compares the first answer of each side with the first answer of the first side. It returns the largest
// [difference], and an error if a difference is above [most].
func alike(sides []*side) (float64, error) {
	rms := 0.0
	var want []tensor
	for i, s := range sides {
		got, err := outputs(s.server.answer.body, s.server.answer.head)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.name, err)
		}
		if i == 0 {
			want = got
			continue
		}
		d, err := difference(got, want)
		if err != nil {
			return 0, fmt.Errorf("%s and %s: %w", s.name, sides[0].name, err)
		}
		if !(d <= most) {
			return 0, fmt.Errorf("%s and %s answer differently: %.2g of the root mean square", s.name, sides[0].name, d)
		}
		rms = max(rms, d)
	}
	return rms, nil
}
