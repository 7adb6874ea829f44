package learn

// Logger writes the events of a run into the folder of the run. Its methods are called one at a
// time. A Logger that returns an error or panics in Event gets no more events.
type Logger interface {
	// Open begins to write into a folder, at the position `mark`. When a run continues from a saved state,
	// mark is the result of Mark when this state was saved. Open removes everything that was written later. If
	// mark is empty, Open begins anew and removes everything that was written before.
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
