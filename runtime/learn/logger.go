package learn

// Logger writes the events of a run into the folder of the run. Its methods are called one at a
// time. A Logger that returns an error or panics in Event gets no more events.
type Logger interface {
	// Open begins to write into a folder. mark says where: Mark returned it when the state was saved from
	// which the run continues. What was written later is removed. An empty mark begins anew, and what was
	// there before is removed.
	Open(dir, mark string) error
	// Event writes an event. It may keep it in memory until Flush.
	Event(e Event) error
	// Mark says how far the logger has written.
	Mark() string
	// Flush writes what is in memory. It is called every second, and before a state is saved. After an
	// error, it is called again later.
	Flush() error
	// Close flushes and ends writing.
	Close() error
}
