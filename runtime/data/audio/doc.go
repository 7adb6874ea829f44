// Package audio reads recordings for training: WAV files, and folders of WAV files as data sets. It
// resamples sounds, mixes their channels, and computes mel spectrograms and MFCC. It also augments
// sounds: it changes them at random.
//
// Some functions change samples or spectrograms in place. They must not be called with the memory
// of an item, because other readers of the data set may share it. Copy the memory first, as [Fit]
// does.
//
// No file makes a reader panic, or allocate much more than the file contains.
package audio
