package learn

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/burngen/burngen/internal/itself"
)

// TestOneRunAFolder asserts that two runs, also of two processes, do not write into one folder.
func TestOneRunAFolder(t *testing.T) {
	const child = "LEARN_TEST_LOCK"
	if dir := os.Getenv(child); dir != "" {
		if _, err := openFolder(dir); err == nil {
			os.Exit(3)
		}
		os.Exit(4)
	}
	itself.Need(t)
	dir := t.TempDir()
	r := newRig(t, dir, nil)
	tried := false
	r.show.on = func(e Event) {
		if s, ok := e.(Stepped); ok && !tried && s.Batch == 1 {
			tried = true
			_, err := newRig(t, dir, func(o *Options) { o.Resume = Continue }).fit(t.Context())
			wantError(t, err, dir, "another run has this folder")
			c := exec.Command(os.Args[0], "-test.run=^TestOneRunAFolder$")
			c.Env = append(os.Environ(), child+"="+dir)
			if err := c.Run(); c.ProcessState == nil || c.ProcessState.ExitCode() != 4 {
				t.Errorf("another process takes the folder: %v", err)
			}
		}
	}
	r.mustFit(t)
	f, err := openFolder(dir)
	if err != nil || !tried {
		t.Fatalf("after the run: %v", err)
	}
	f.close()
}

// TestFilesThatAreNotComplete asserts that what a killed process left is removed, and nothing else.
func TestFilesThatAreNotComplete(t *testing.T) {
	dir := t.TempDir()
	all := []string{"last.safetensors.123.partial", "checkpoint/epoch-1.safetensors.9.partial", "checkpoint/own.partial", "x.12", "y.partial.partial"}
	for _, name := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	f.close()
	if got, want := filesOf(t, dir), []string{"checkpoint/own.partial", "lock", "x.12", "y.partial.partial"}; !reflect.DeepEqual(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestFilesOfARun lists the folder of a run, and looks into the files that people read.
func TestFilesOfARun(t *testing.T) {
	dir := t.TempDir()
	newRig(t, dir, func(o *Options) { o.Epochs = 1 }).mustFit(t)
	want := []string{"best.json", "checkpoint/epoch-1.safetensors", "config.json", "environment.json", "events.jsonl", "experiment.log",
		"last.safetensors", "lock", "metrics.csv", "train/epoch-1/Loss.log", "train/epoch-1/MAE.log", "train/epoch-1/R².log",
		"valid/epoch-1/Loss.log", "valid/epoch-1/MAE.log", "valid/epoch-1/R².log"}
	if got := filesOf(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("files %q\nwant  %q", got, want)
	}
	read := func(name string, x any) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(text, x)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var config struct{ Rate float64 }
	var env environment
	var best map[string]bestValue
	read("config.json", &config)
	read("environment.json", &env)
	read("best.json", &best)
	if config.Rate != 0.05 || env.Seed != 3 || len(env.Data) != 64 || len(env.Model) != 64 || len(env.Command) == 0 || env.Cores < 1 {
		t.Errorf("config %+v, environment %+v", config, env)
	}
	if b := best["valid loss"]; b.Epoch != 1 || b.Step != 4 || b.File != "checkpoint/epoch-1.safetensors" {
		t.Errorf("best %+v", best)
	}
}
