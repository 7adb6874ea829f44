// Package turns has what the benchmarks on a card share: the card, operands, recordings with their times, and the
// process that runs PyTorch. burngen and PyTorch take turns on the card.
package turns

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Torch is the process of PyTorch's side. It answers each line with a line.
type Torch struct{ lines *bufio.ReadWriter }

// Start starts a program of PyTorch's side with the Python called python. The process ends with the benchmark.
func Start(python, program string) (*Torch, error) {
	c := exec.Command(python, program)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &Torch{bufio.NewReadWriter(bufio.NewReader(out), bufio.NewWriter(in))}, c.Start()
}

// Ask writes a line and reads an answer. It stores the numbers of the answer in results. If the answer does not have
// these numbers, it is an error message, and Ask returns it as an error.
func (t *Torch) Ask(line string, results ...any) error {
	fmt.Fprintln(t.lines, line)
	if err := t.lines.Flush(); err != nil {
		return err
	}
	answer, err := t.lines.ReadString('\n')
	if err != nil {
		return fmt.Errorf("PyTorch's side: %w", err)
	}
	if _, err := fmt.Sscan(answer, results...); err != nil {
		return fmt.Errorf("PyTorch's side: %s", strings.TrimSpace(answer))
	}
	return nil
}
