// Package images turns folders of JPEG, PNG and WebP files into the batches that image
// networks train on.
//
// [OpenPublished] finds the files of a published data set in the folders of its archives, and
// [Set.Inspect] decodes every one. [OpenOwn] and [OpenUnlabelled] take any images.
//
// A [Reader] decodes the images of a [Set] and resizes them to 256×256, bicubic; it
// can keep some of them in memory, 196,608 bytes each. On it stand a
// [Loader], which makes the random views of training in shuffled batches without
// end, and [Reader.Batches], which goes over all images once for evaluation.
//
// A [Reader] gives the pixels of the Python imaging library Pillow, on
// which torchvision's image transforms stand: opaque PNG and lossless WebP files and both filters byte
// for byte (Pillow 9.4, 600 random sizes of 1 to 399 pixels a side), JPEG files, with
// libjpeg's interpolation of chroma, within 3 levels and 0.04 on average
// (libjpeg-turbo 2.1.5, 150 grey, 4:4:4, 4:2:2 and 4:2:0 files, baseline and
// progressive), where two inverse cosine transforms round differently.
package images
