// Package temporary writes files that appear under their names when they are whole. What is
// not whole yet has a name that begins with ".burngen-". It is removed when a signal ends the
// program. What a killed program leaves is removed by a later one that writes there.
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

// live are the temporary files and folders of this program. The lock is held while files
// get their names, so that a signal finds all of them renamed or none.
var live = struct {
	sync.Mutex
	paths map[string]bool
}{paths: map[string]bool{}}

// host is a number for this machine: what runs on another one is not known here.
var host = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprintf("%08x", h.Sum32())
})

// prefix begins the names of what a process of this machine writes.
func prefix(pid int) string { return fmt.Sprintf(".burngen-%s-%d-", host(), pid) }

// names matches the names that [prefix] begins: machine and process.
var names = regexp.MustCompile(`^\.burngen-([0-9a-f]{8})-([0-9]+)-[0-9]+$`)

// File makes an empty file in dir, to be written and then renamed by [Rename]. Its mode is that
// of any new file.
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

// Folder makes an empty folder in dir, or in the system's folder for temporary files if dir is
// "".
func Folder(dir string) (string, error) {
	live.Lock()
	defer live.Unlock()
	path, err := os.MkdirTemp(dir, prefix(os.Getpid())+"*")
	if err == nil {
		live.paths[path] = true
	}
	return path, err
}

// Remove removes what [File] or [Folder] made. Nothing happens if it has been renamed.
func Remove(path string) {
	live.Lock()
	defer live.Unlock()
	os.RemoveAll(path)
	delete(live.paths, path)
}

// Renaming is a file with the name that it gets.
type Renaming struct{ From, To string }

// Rename gives files their names. A signal does not end the program in between.
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

// Sweep removes from a folder what programs of this machine left there that have ended.
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

// isRunning reports whether there is a process with this number.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if runtime.GOOS == "windows" { // FindProcess tells
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}

// Write writes a file. On error, a file of that name stays as it is. What is not a regular
// file, such as a terminal, is written in place.
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

// signals end a program. Those that it was told to ignore do not.
var signals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// EndBySignal makes a signal remove what is temporary and end the program with 128 and the
// signal's number, as a shell tells it.
func EndBySignal() {
	received := make(chan os.Signal, 1)
	for _, s := range signals {
		if !signal.Ignored(s) {
			signal.Notify(received, s)
		}
	}
	go func() {
		s := <-received
		live.Lock() // for good: nothing is made any more
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
