// Package images reads pictures for training. It has data sets of pictures, decoders, and the random
// transforms of training.
//
// Data sets are [MNIST], [CIFAR10] and [CIFAR100], [Folder] with a folder for each class, [COCO] with
// boxes, and [Masks] with a class for each pixel. Pictures of folders are decoded when they are read.
//
// A [Transform] changes a [Sample]: a picture, its boxes and its mask. A [Pipeline] applies
// transforms in the loaders of package data, and uses its memory again. All random numbers come from
// the generator that a loader passes for each item. The same item, seed and epoch give the same bits,
// with any number of workers.
//
// No file makes a reader panic, or allocate memory for more pixels than [PixelLimit] and
// [rt.ArenaLimit] allow. The package knows pictures, but not models and training.
package images
