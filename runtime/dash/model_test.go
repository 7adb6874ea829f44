//go:build unix || windows

package dash

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/teatest/v2"

	"github.com/burngen/burngen/runtime/dash/internal/progress"
	"github.com/burngen/burngen/runtime/learn"
)

// controls takes note of what a run was asked for.
type controls struct {
	mu   sync.Mutex
	asks []string
}

func (c *controls) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks = append(c.asks, text)
}

func (c *controls) Save() { c.note("save") }

func (c *controls) Pause(pause bool) { c.note(fmt.Sprint("pause ", pause)) }

func (c *controls) Finish(save bool) { c.note(fmt.Sprint("finish ", save)) }

// await waits until the run was asked for something so many times, and returns it all.
func (c *controls) await(t *testing.T, n int) string {
	t.Helper()
	for range 3000 {
		c.mu.Lock()
		asks := strings.Join(c.asks, ", ")
		done := len(c.asks) >= n
		c.mu.Unlock()
		if done {
			return asks
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the run was not asked")
	return ""
}

// program starts a dashboard for a test.
func program(t *testing.T, run *progress.Run, c *controls) *teatest.TestModel {
	var control func() learn.Controls
	if c != nil {
		control = func() learn.Controls { return c }
	}
	return teatest.NewTestModel(t, newModel(run, false, control), teatest.WithInitialTermSize(80, 24))
}

// final returns the model of a dashboard that has ended.
func final(t *testing.T, tm *teatest.TestModel) model {
	t.Helper()
	return tm.FinalModel(t, teatest.WithFinalTimeout(time.Minute)).(model)
}

func TestKeysControlTheRun(t *testing.T) {
	run, c := runOf(recorded(300)...), &controls{}
	tm := program(t, run, c)
	tm.Type("c")
	c.await(t, 1)
	tm.Type("p")
	c.await(t, 2)
	tm.Type("p")
	c.await(t, 3)
	tm.Type("qx") // neither answers the question
	tm.Send(tea.KeyPressMsg{Code: tea.KeyEsc})
	tm.Type("qs")
	if got := c.await(t, 4); got != "save, pause true, pause false, finish true" {
		t.Errorf("asked for %s", got)
	}
	run.Event(stopped(time.Time{})) // the user wanted that: nothing more is waited for
	if m := final(t, tm); !m.finishing || m.paused || m.dialog {
		t.Errorf("finishing %v, paused %v, dialog %v", m.finishing, m.paused, m.dialog)
	}
}

func TestThrowingAway(t *testing.T) {
	run, c := runOf(recorded(300)...), &controls{}
	tm := program(t, run, c)
	tm.Type("qt")
	if got := c.await(t, 1); got != "finish false" {
		t.Errorf("asked for %s", got)
	}
	run.Event(stopped(time.Time{}))
	final(t, tm)
}

func TestCtrlCFinishes(t *testing.T) {
	run, c := runOf(recorded(300)...), &controls{}
	ended := false
	m := newModel(run, false, func() learn.Controls { return c })
	m.giveUp = func() { ended = true }
	key := tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	next, cmd := m.Update(key)
	cmd()
	if got := c.await(t, 1); got != "finish true" || ended {
		t.Errorf("asked for %s, ended %v", got, ended)
	}
	if _, cmd = next.Update(key); cmd == nil {
		t.Fatal("the second time has no effect")
	}
	if cmd(); !ended {
		t.Error("the second time does not end the program")
	}
}

func TestItStaysUntilAKeyIsPressed(t *testing.T) {
	run := runOf(recorded(4 * 127)...)
	tm := program(t, run, &controls{})
	time.Sleep(3 * often)
	tm.Type("x")
	if m := final(t, tm); m.state != "stopped" {
		t.Errorf("state %q", m.state)
	}
}

func TestWatchingControlsNothing(t *testing.T) {
	tm := program(t, runOf(recorded(300)...), nil)
	tm.Type("cp")
	tm.Type("q")
	if m := final(t, tm); m.paused || m.dialog || m.finishing {
		t.Errorf("paused %v, dialog %v, finishing %v", m.paused, m.dialog, m.finishing)
	}
	tm = program(t, runOf(recorded(4*127)...), nil)
	tm.Type("fq") // the first key does not leave: what was trained can be looked at
	if m := final(t, tm); !m.recent {
		t.Error("the keys have no effect after the run")
	}
}

func TestKeysChooseWhatIsSeen(t *testing.T) {
	run := runOf(recorded(300)...)
	for keys, check := range map[string]func(m model) bool{
		"f":             func(m model) bool { return m.recent },
		"f f":           func(m model) bool { return !m.recent },
		"l":             func(m model) bool { return m.log },
		"s":             func(m model) bool { return m.smooth == 1 },
		"s s s":         func(m model) bool { return m.smooth == 0 },
		"right":         func(m model) bool { return m.tab.Name == "accuracy" },
		"left":          func(m model) bool { return m.tab.Name == "memory" },
		"tab tab":       func(m model) bool { return m.tab.Name == "top-3" },
		"tab shift+tab": func(m model) bool { return m.tab.Name == "loss" },
		"3":             func(m model) bool { return m.tab.Name == "top-3" },
		"9":             func(m model) bool { return m.tab.Name == "loss" },
		"down":          func(m model) bool { return m.split == learn.Train },
		"down down":     func(m model) bool { return m.split == learn.Valid },
		"up":            func(m model) bool { return m.split == learn.Valid },
		"up down":       func(m model) bool { return m.split == "" },
		"?":             func(m model) bool { return m.help },
		"? x":           func(m model) bool { return !m.help },
		"q":             func(m model) bool { return m.dialog },
		"q esc":         func(m model) bool { return !m.dialog },
	} {
		if m := typed(run, 80, 24, false, strings.Fields(keys)...); !check(m) {
			t.Errorf("%s: tab %q, split %q, recent %v, log %v, smooth %d", keys, m.tab.Name, m.split, m.recent, m.log, m.smooth)
		}
	}
}

// TestTheTabIsKept asserts that tabs that appear later do not change what is chosen.
func TestTheTabIsKept(t *testing.T) {
	events := recorded(300)
	run := runOf(events[0])
	m := typed(run, 80, 24, false, "left")
	if m.tab.Name != "memory" {
		t.Fatalf("the last tab is %s", m.tab.Name)
	}
	for _, e := range events[1:] {
		run.Event(e) // with rate and gradient norm, whose tabs come before
	}
	if m = m.look(); m.tab.Name != "memory" || m.frame.Tabs[m.frame.Tab].Name != "memory" {
		t.Errorf("the tab is %s", m.tab.Name)
	}
}

// eventsOf makes events of bytes: any kinds, in any order, with odd numbers and names.
func eventsOf(data []byte) (events []learn.Event) {
	next := func() byte {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return b
	}
	numbers := []float64{0, 1, -1, 0.5, 1e-300, 1e300, -1e300, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1), 91.5}
	number := func() learn.Number { return learn.Number(numbers[int(next())%len(numbers)]) }
	ints := []int{0, 1, 2, 10, -1, 1000, math.MaxInt, math.MinInt}
	integer := func() int { return ints[int(next())%len(ints)] }
	names := []string{"loss", "accuracy", "", "\x1b[2Jx", "日本語", "rate", "memory", strings.Repeat("n", 300)}
	name := func() string { return names[int(next())%len(names)] }
	splits := []learn.Split{learn.Train, learn.Valid, learn.Test, learn.System, "", progress.Optimizer, "\x1b"}
	split := func() learn.Split { return splits[int(next())%len(splits)] }
	value := func() learn.Value { return learn.Value{Name: name(), Value: number()} }
	series := func() learn.Series {
		return learn.Series{Name: name(), Unit: name(), Better: integer(), Curve: next()%2 == 0}
	}
	took := func() time.Duration { return time.Duration(integer()) }
	for len(data) > 0 && len(events) < 1000 {
		var e learn.Event
		switch next() % 10 {
		case 0:
			e = learn.Started{Run: name(), Epoch: integer(), Batch: integer(), Step: integer(), Epochs: integer(), Steps: integer(), Batches: integer(),
				Items: integer(), Valid: integer(), Parameters: int64(integer()), Metrics: []learn.Series{series(), series()}, System: []learn.Series{series()}}
		case 1, 2:
			e = learn.Stepped{Split: split(), Epoch: integer(), Batch: integer(), Step: integer(), Items: integer(), Loss: number(), Rate: number(),
				GradNorm: number(), Waited: took(), Took: took(), Values: []learn.Value{value()}}
		case 3:
			e = learn.Measured{Split: split(), Epoch: integer(), Step: integer(), Items: integer(), Values: []learn.Value{value(), value()}}
		case 4:
			e = learn.EpochEnded{Epoch: integer(), Step: integer(), Took: took()}
		case 5:
			e = learn.Saved{Epoch: integer(), Step: integer(), File: name(), Bytes: int64(integer()), Took: took()}
		case 6:
			e = learn.Deleted{File: name()}
		case 7:
			e = learn.Improved{Epoch: integer(), Step: integer(), Key: split().Key(name()), Value: number(), Before: number()}
		case 8:
			e = learn.Warned{Message: name()}
		case 9:
			e = learn.Stopped{Epoch: integer(), Step: integer(), Reason: name(), Took: took()}
		}
		events = append(events, e)
	}
	return events
}

// tryEvents shows any events in terminals of several sizes, and types.
func tryEvents(t *testing.T, data []byte) {
	run := runOf(eventsOf(data)...)
	keys := []string{"l", "s", "f", "left", "down", "2", "?", "x", "q", "esc", "right"}
	for i, size := range [][2]int{{40, 12}, {80, 24}, {73, 13}, {120, 16}, {1, 1}, {39, 3}} {
		m := typed(run, size[0], size[1], i%2 == 1)
		checkScreen(t, m)
		for _, k := range keys {
			next, _ := m.press(k)
			m = next.(model)
			checkScreen(t, m)
		}
	}
	run.Summary()
}

func FuzzEvents(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		data := make([]byte, 200)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(tryEvents)
}
