package learn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

const (
	stateFile        = "last.safetensors" // the state from which the run continues
	configFile       = "config.json"
	environmentFile  = "environment.json"
	bestFile         = "best.json"
	lockName         = "lock"
	checkpointFolder = "checkpoint"
	pictureFolder    = "pictures"
)

// written lists everything that a run writes into its folder, except the lock.
var written = []string{stateFile, configFile, environmentFile, bestFile, checkpointFolder, pictureFolder,
	eventsFile, "metrics.csv", "experiment.log", string(Train), string(Valid), "tb", "report.html"}

// errLocked is the error for a folder that another process has locked.
var errLocked = errors.New("another run has this folder")

// folder is the folder of a run. It is locked for this process.
type folder struct {
	dir  string
	lock *os.File
}

// openFolder creates a folder if it does not exist, and locks it for this process. It removes files
// that a killed process left incomplete.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	lock, err := lockFile(filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	f := &folder{dir, lock}
	for _, sub := range []string{"", checkpointFolder, pictureFolder} {
		names, err := f.list(sub)
		if err != nil {
			f.close()
			return nil, err
		}
		for _, name := range names {
			if isPartial(name) {
				os.Remove(f.path(sub, name))
			}
		}
	}
	return f, nil
}

// isPartial reports whether name has the form that [rt.ReplaceFile] gives to incomplete files.
func isPartial(name string) bool {
	rest, ok := strings.CutSuffix(name, ".partial")
	if !ok {
		return false
	}
	_, err := strconv.Atoi(strings.TrimPrefix(filepath.Ext(rest), "."))
	return err == nil
}

func (f *folder) path(parts ...string) string {
	return filepath.Join(f.dir, filepath.FromSlash(strings.Join(parts, "/")))
}

// list returns the names of the entries of a sub-folder. It returns no names if the sub-folder does
// not exist.
func (f *folder) list(sub string) ([]string, error) {
	entries, err := os.ReadDir(f.path(sub))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

func (f *folder) has(name string) bool {
	_, err := os.Lstat(f.path(name))
	return err == nil
}

func (f *folder) hasRun() bool {
	for _, name := range []string{stateFile, eventsFile, checkpointFolder, configFile} {
		if f.has(name) {
			return true
		}
	}
	return false
}

// clear deletes everything in [written].
func (f *folder) clear() error {
	for _, name := range written {
		if err := os.RemoveAll(f.path(name)); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) writeJSON(name string, x any) error {
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return rt.ReplaceFile(f.path(name), func(out *os.File) error {
		_, err := out.Write(append(text, '\n'))
		return err
	})
}

func (f *folder) close() error { return f.lock.Close() }
