package serve

import (
	"io/fs"
	"os"
	"sync"
	"time"
)

// watch checks the files of weights at intervals of `each`. It loads a model again if its file
// differs from the file that was loaded, and has not changed since the previous check. So it does
// not load a file that is still being written. If `each` is not above 0, watch does nothing.
// `stop` ends the checks.
func (s *Server) watch(each time.Duration) (stop func()) {
	if each <= 0 {
		return func() {}
	}
	done := make(chan struct{})
	last, taken := map[*entry]stamp{}, map[*entry]stamp{}
	for _, e := range s.entries {
		last[e] = stampOf(e.Weights)
		taken[e] = last[e]
	}
	go func() {
		ticker := time.NewTicker(each)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			for _, e := range s.entries {
				now := stampOf(e.Weights)
				if now == last[e] && now != taken[e] && now != (stamp{}) && e.now.Load() != nil {
					taken[e] = now
					e.load() // it logs what fails
				}
				last[e] = now
			}
		}
	}()
	return sync.OnceFunc(func() { close(done) })
}

// stamp identifies a version of a file.
type stamp struct {
	changed time.Time
	size    int64
	mode    fs.FileMode
}

// stampOf returns the stamp of a file, or the zero stamp if the file does not exist.
func stampOf(path string) stamp {
	if path == "" {
		return stamp{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size(), info.Mode()}
}
