// Package temporary writes files that appear under their names only when complete. Incomplete files have names that
// start with ".burngen-". They are removed when a signal ends the program, if [EndBySignal] has been called. Files of
// a killed program are removed by a later program that writes to the same folder.
package temporary

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// live holds the temporary files and folders of this program. The lock is held while files are
// renamed, so that a signal finds all of them renamed or none.
var live = struct {
	sync.Mutex
	paths map[string]bool
}{paths: map[string]bool{}}

// host is a hash of this machine's name, in eight hexadecimal digits. Temporary names contain it, because a program
// can find out only on its own machine which processes still run.
var host = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprintf("%08x", h.Sum32())
})

func prefix(pid int) string { return fmt.Sprintf(".burngen-%s-%d-", host(), pid) }

// names matches temporary names. Its groups are the machine and the process, see [prefix].
var names = regexp.MustCompile(`^\.burngen-([0-9a-f]{8})-([0-9]+)-[0-9]+$`)

// File creates an empty file in dir, with the mode of any new file. The caller writes the file, and then renames it
// with [Rename].
func File(dir string) (*os.File, error) {
	live.Lock()
	defer live.Unlock()
	for {
		path := filepath.Join(dir, prefix(os.Getpid())+strconv.FormatUint(uint64(rand.Uint32()), 10))
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			live.paths[path] = true
		}
		return f, err
	}
}

// Folder creates an empty folder in dir, or in the system's temporary folder if dir is "".
func Folder(dir string) (string, error) {
	live.Lock()
	defer live.Unlock()
	path, err := os.MkdirTemp(dir, prefix(os.Getpid())+"*")
	if err == nil {
		live.paths[path] = true
	}
	return path, err
}

// Remove removes a file or folder that [File] or [Folder] created. It does nothing if the file or
// folder was renamed.
func Remove(path string) {
	live.Lock()
	defer live.Unlock()
	os.RemoveAll(path)
	delete(live.paths, path)
}

// Renaming is a temporary file and its final name.
type Renaming struct{ From, To string }

// Rename renames files to their final names. It stops at the first error and returns it. A signal ends the program
// only after Rename, see [EndBySignal].
func Rename(list []Renaming) error {
	live.Lock()
	defer live.Unlock()
	for _, r := range list {
		if err := os.Rename(r.From, r.To); err != nil {
			return err
		}
		delete(live.paths, r.From)
	}
	return nil
}

// Sweep removes the temporary files and folders in dir whose program ran on this machine and has ended.
func Sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		m := names.FindStringSubmatch(e.Name())
		if m == nil || m[1] != host() {
			continue
		}
		if pid, err := strconv.Atoi(m[2]); err == nil && !isRunning(pid) {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if runtime.GOOS == "windows" { // FindProcess reports it
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}

// Write writes the file at path. The function `write` writes its content. An existing regular file does not change
// on error. A file that is not regular, such as a terminal, is written in place.
func Write(path string, write func(*os.File) error) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return writeInPlace(path, write)
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	dir := filepath.Dir(path)
	Sweep(dir)
	f, err := File(dir)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			at.Path = path
		}
		return err
	}
	defer Remove(f.Name())
	err = write(f)
	if err == nil && info != nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return Rename([]Renaming{{f.Name(), path}})
}

func writeInPlace(path string, write func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// signals are the signals that end a program, unless it was started to ignore them.
var signals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// EndBySignal makes the program remove its temporary files and end when it receives SIGINT, SIGTERM or SIGHUP,
// unless it was started to ignore the signal. The exit status is 128 plus the number of the signal.
func EndBySignal() {
	received := make(chan os.Signal, 1)
	for _, s := range signals {
		if !signal.Ignored(s) {
			signal.Notify(received, s)
		}
	}
	go func() {
		s := <-received
		live.Lock() // never unlocked: nothing is created any more
		for path := range live.paths {
			os.RemoveAll(path)
		}
		fmt.Fprintf(os.Stderr, "burngen: %v\n", s)
		code := 1
		if n, ok := s.(syscall.Signal); ok {
			code = 128 + int(n)
		}
		os.Exit(code)
	}()
}
