//go:build unix || windows

package dash

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/runtime/dash/internal/progress"
	"github.com/burngen/burngen/runtime/learn"
)

// updating reports whether goldens are written anew. Package golden of teatest has the flag -update.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// controlled stands for a run that can be controlled.
func controlled() learn.Controls { return &controls{} }

// typed returns a model of a run after keys.
func typed(run *progress.Run, w, h int, ascii bool, keys ...string) model {
	m := newModel(run, ascii, controlled)
	m.w, m.h = w, h
	for _, k := range keys {
		next, _ := m.press(k)
		m = next.(model)
	}
	return m
}

// hostile are events with names and texts that would break a screen.
func hostile() []learn.Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	escape := "\x1b[2J\x1b]0;title\a\x1b[31m"
	nan, inf := learn.Number(math.NaN()), learn.Number(math.Inf(1))
	return []learn.Event{
		learn.Started{Time: at, Run: escape + "a\nb" + strings.Repeat("long", 100), Epochs: -3, Batches: -1, Steps: 10,
			Metrics: []learn.Series{{Name: "loss" + escape, Unit: "\x00\r\n"}, {Name: "損失 日本語の名前", Better: -1, Curve: true}, {Name: "", Unit: "%", Curve: true}}},
		learn.Stepped{Split: learn.Train, Epoch: -5, Batch: math.MaxInt32, Step: math.MinInt32, Items: -4, Loss: inf, Rate: nan, Waited: -1, Took: math.MaxInt64},
		learn.Measured{Split: learn.Valid, Epoch: math.MaxInt32 - 1, Step: 3, Values: []learn.Value{{Name: "損失 日本語の名前", Value: 1e300}, {Name: "損失 日本語の名前", Value: -1e300}, {Value: nan}}},
		learn.Saved{Time: at, File: escape + "x", Bytes: -1, Took: -1},
		learn.Warned{Time: at, Message: escape + "several\nlines\tand\u202e more " + strings.Repeat("é", 5000)},
	}
}

// everySize are the views that are compared in all sizes. The texts of the others are in 80 × 24, and in
// 40 × 12 in ASCII.
var everySize = map[string]bool{"training": true, "hostile": true}

// TestViews compares the dashboard of recorded runs with texts.
func TestViews(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	short := learn.Started{Time: at, Run: "without epochs", Steps: 1000}
	for name, c := range map[string]struct {
		events []learn.Event
		keys   []string
	}{
		"waiting":    {nil, nil},
		"started":    {recorded(0), nil},
		"training":   {recorded(3*127 + 77), nil},
		"validation": {recorded(2 * 127)[:295], nil},
		"stopped":    {recorded(4 * 127), nil},
		"hostile":    {hostile(), []string{"2"}},
		"steps":      {append([]learn.Event{short}, recorded(150)[1:]...), []string{"4"}},
		"accuracy":   {recorded(300), []string{"right"}},
		"log":        {recorded(300), []string{"l", "s", "s"}},
		"recent":     {recorded(4*127 - 1), []string{"f", "down"}},
		"help":       {recorded(300), []string{"?"}},
		"dialog":     {recorded(300), []string{"q"}},
		"paused":     {recorded(300), []string{"p"}},
		"stopping":   {recorded(300), []string{"q", "s"}},
		"memory":     {recorded(300), []string{"left"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := runOf(c.events...)
			run.Print("a line that the program printed")
			var all strings.Builder
			for _, size := range [][2]int{{40, 12}, {80, 24}, {200, 50}, {39, 12}, {30, 1}} {
				for _, charset := range []string{"unicode", "ascii"} {
					m := typed(run, size[0], size[1], charset == "ascii", c.keys...)
					checkScreen(t, m)
					size := fmt.Sprintf("%d×%d %s", size[0], size[1], charset)
					if everySize[name] || size == "80×24 unicode" || size == "40×12 ascii" {
						g, _ := draw(m.frame, m.screen)
						fmt.Fprintf(&all, "-- %s --\n%s", size, g.text())
					}
				}
			}
			path := filepath.Join("testdata", "view", name+".txt")
			if updating() {
				if err := os.WriteFile(path, []byte(all.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(all.String(), "\n")); d != "" {
				t.Errorf("%s: (-want +got)\n%s", path, d)
			}
		})
	}
}

// checkScreen asserts that a view has the size of the terminal, and no control characters but those of
// its own styles.
func checkScreen(t *testing.T, m model) {
	t.Helper()
	g, _ := draw(m.frame, m.screen)
	lines := strings.Split(strings.TrimSuffix(g.text(), "\n"), "\n")
	if len(lines) != m.h {
		t.Errorf("%d lines in %d×%d", len(lines), m.w, m.h)
	}
	for i, l := range lines {
		if lipgloss.Width(l) > m.w {
			t.Errorf("line %d has %d columns of %d: %q", i, lipgloss.Width(l), m.w, l)
		}
		for _, r := range l {
			if r < ' ' || r >= 0x7f && r < 0xa0 || m.ascii && r > 0x7f {
				t.Errorf("line %d has %q: %q", i, r, l)
			}
		}
	}
	for i, l := range strings.Split(m.View().Content, "\n") {
		if got := lipgloss.Width(l); got != m.w {
			t.Errorf("line %d of the view has %d columns, want %d: %q", i, got, m.w, l)
		}
	}
}

// TestTabsCanBeClicked clicks on every column of the row with the tabs.
func TestTabsCanBeClicked(t *testing.T) {
	for _, w := range []int{40, 80, 200} {
		run := runOf(recorded(300)...)
		m := typed(run, w, 24, false)
		_, tabs := draw(m.frame, m.screen)
		if len(tabs) < 2 {
			t.Fatalf("%d tabs in %d columns", len(tabs), w)
		}
		for _, target := range tabs {
			next, _ := m.Update(tea.MouseClickMsg{X: target.x0 + 1, Y: target.y, Button: tea.MouseLeft})
			if got := next.(model).tab; got != target.tab {
				t.Errorf("%d columns: a click on %s chose %s", w, target.tab.Name, got.Name)
			}
		}
		next, _ := m.Update(tea.MouseClickMsg{X: tabs[1].x0 + 1, Y: tabs[1].y + 3})
		if got := next.(model).tab; got != m.tab {
			t.Errorf("a click below the tabs chose %s", got.Name)
		}
	}
}

// TestEveryTabCanBeReached goes through all tabs, in a terminal that does not show all at once.
func TestEveryTabCanBeReached(t *testing.T) {
	m := typed(runOf(recorded(300)...), 40, 12, false)
	for range m.frame.Tabs {
		next, _ := m.press("right")
		m = next.(model)
		g, _ := draw(m.frame, m.screen)
		if want := "[" + m.tab.Name + "]"; !strings.Contains(g.text(), want) {
			t.Errorf("no %s in\n%s", want, g.text())
		}
	}
	if m.frame.Tab != 0 {
		t.Errorf("after all tabs comes %d", m.frame.Tab)
	}
}
