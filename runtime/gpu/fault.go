package gpu

import (
	"context"
	"unsafe"
)

const (
	// faultWords is the size of a fault record in i32 words.
	faultWords = 4
	// maxFaults is the number of fault records. If a call has more launches that may fault, the host reads
	// the records before they are used again.
	maxFaults = 1024
)

// FaultNumber returns the 64-bit number in the record of a fault. record[1] is the low half of the
// number, and record[2] the high half.
func FaultNumber(record []int32) int64 {
	return int64(record[2])<<32 | int64(uint32(record[1]))
}

// faults holds the fault records of a call. A kernel writes a record where the host would return an
// error.
type faults struct {
	memory buffer
	// failed[i] returns the error of record i. Its argument is the number in the record.
	failed []func(number int64) error
	words  []int32
}

// Fault returns an argument for a kernel that may find a fault. If the kernel finds one, it writes a
// record with a number, and the call ends with the error that `failed` returns for this number. If several
// kernels find faults, the call ends with the error of the kernel whose argument was requested first.
func (r *Run) Fault(failed func(number int64) error) Arg {
	if r.err == nil && len(r.faults.failed) == maxFaults {
		r.log = nil // other records are in use then
		if r.err = r.collect(); r.err == nil {
			r.err = r.findFault()
		}
	}
	if r.err == nil && r.faults.memory.bytes == 0 {
		if r.err = r.faults.memory.grow(r.device, 4*faultWords*maxFaults); r.err == nil {
			r.err = r.clearFaults(maxFaults)
		}
	}
	if r.err != nil {
		return Arg{}
	}
	at := r.faults.memory.at + Address(4*faultWords*len(r.faults.failed))
	r.faults.failed = append(r.faults.failed, failed)
	return Arg{number: uint64(at), kind: isAddress}
}

func (r *Run) clearFaults(n int) error {
	return r.queue.Upload(r.faults.memory.at, make([]byte, 4*faultWords*n))
}

// download copies the records in use to the host.
func (f *faults) download(q Queue) error {
	n := len(f.failed)
	if n == 0 {
		return nil
	}
	if len(f.words) < n*faultWords {
		f.words = make([]int32, n*faultWords)
	}
	words := f.words[:n*faultWords]
	return q.Download(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 4*len(words)), f.memory.at)
}

// collect downloads the records in use and waits for the download.
func (r *Run) collect() error {
	if err := r.faults.download(r.queue); err != nil {
		return err
	}
	return r.queue.Wait(context.Background())
}

// findFault returns the error of the first fault in the downloaded records, or nil. It marks all
// records as unused.
func (r *Run) findFault() error {
	list := r.faults.failed
	r.faults.failed = r.faults.failed[:0]
	for i, failed := range list {
		if record := r.faults.words[i*faultWords:][:faultWords]; record[0] != 0 {
			if err := r.clearFaults(len(list)); err != nil {
				return err
			}
			return failed(FaultNumber(record))
		}
	}
	return nil
}
